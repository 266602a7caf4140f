package perf

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kernbench/fault"
	"kernbench/lab/sweep"
	"kernbench/mem"
	"kernbench/unit"
)

// leftOut lists algorithms that a sweep over all does not measure, at some sizes or at all.
type leftOut struct{ all []*omission }

// omission is an algorithm that is left out for one reason.
type omission struct {
	name, reason string
	sizes        []string // in the order of the sweep; nil: all
}

func (o *leftOut) add(name, reason string, size ...string) {
	reason, _, _ = strings.Cut(strings.TrimPrefix(reason, "algorithm "+name+": "), "\n")
	for _, e := range o.all {
		if e.name == name && e.reason == reason {
			for _, s := range size {
				if !slices.Contains(e.sizes, s) {
					e.sizes = append(e.sizes, s)
				}
			}
			return
		}
	}
	o.all = append(o.all, &omission{name, reason, size})
}

// notes returns a sentence for each reason and its sizes, with all algorithms that it concerns.
func (o *leftOut) notes() []string {
	names := map[string][]string{}
	var ends []string
	for _, e := range o.all {
		end := "left out: " + e.reason
		if len(e.sizes) > 0 {
			end = "left out at " + sweep.Joined(e.sizes) + ": " + e.reason
		}
		if names[end] == nil {
			ends = append(ends, end)
		}
		names[end] = append(names[end], e.name)
	}
	var notes []string
	for _, end := range ends {
		verb := "is"
		if len(names[end]) > 1 {
			verb = "are"
		}
		notes = append(notes, fmt.Sprintf("%s %s %s", strings.Join(names[end], ", "), verb, end))
	}
	return notes
}

// TooLarge reports whether a run failed because its data or rings do not fit a memory of the
// machine. That is a limit of the algorithm, and no mistake in it.
func TooLarge(err error) bool { return tooLarge(err) != "" }

// tooLarge names the memory that is too small for a run, or returns "" if the run failed otherwise
// or not at all.
func tooLarge(err error) string {
	if why := sweep.RingsTooLarge(err); why != "" {
		return why
	}
	scratch := unit.Bytes(0)
	if full, ok := errors.AsType[*fault.ScratchFull](err); ok {
		scratch = full.Have
	} else if gone, ok := errors.AsType[*fault.UseAfterFree](err); ok && gone.Reclaimed {
		scratch = gone.Scratch
	}
	switch {
	case scratch > 0:
		return fmt.Sprintf("its data do not fit the scratch of %v (key pe.tcm.scratch)", scratch)
	case errors.Is(err, mem.ErrFull):
		return "its data do not fit the HBM (key cube.hbm.capacity_per_pe)"
	}
	return ""
}

// leave returns true if a row of a sweep over all algorithms has no result because its data are too
// large, and notes that.
func (o *leftOut) leave(s *Sweep, algorithm string, settings []sweep.Setting, size unit.Bytes, errs ...error) bool {
	if !s.All || len(errs) == 0 {
		return false
	}
	for _, err := range errs {
		if !TooLarge(err) {
			return false
		}
	}
	o.add(sweep.Named(algorithm, settings), tooLarge(errs[0]), size.String())
	return true
}

// errs lists the errors of the runs of a row.
func (r *Row) errs() []error {
	var all []error
	for _, p := range r.Placements() {
		all = append(all, p.Err)
	}
	return all
}
