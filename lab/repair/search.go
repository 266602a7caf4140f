package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kernbench/fault"
	"kernbench/lab/run"
	"kernbench/tl"
)

// Applies reports whether Search can look for repairs of an error.
func Applies(err error) bool {
	_, hangs := errors.AsType[*fault.Deadlock](err)
	_, left := errors.AsType[*fault.Unreceived](err)
	return hangs || left
}

// enough is the number of repairs that end a search. elsewhere is the number of other world sizes
// at which each repair is tried.
const (
	enough    = 3
	elsewhere = 2
)

// Search looks for repairs of a run that ended with an error to which it Applies, for a limited
// time.
func Search(ctx context.Context, spec run.Spec, err error, limit time.Duration) *run.Repairs {
	begin := time.Now()
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	spec.TraceFile, spec.CCLTrace, spec.Output, spec.Pointers, spec.Progress, spec.Causes = "", nil, nil, nil, nil, nil
	spec.Use, spec.Schedules, spec.Race = false, 0, new(bool)
	spec.VerifyData = true
	if x, lerr := run.Load(spec); lerr != nil || x == nil {
		spec.VerifyData = false // the executor moves no data
	}
	s := &search{ctx: inner, spec: spec, found: &run.Repairs{Found: []run.Repair{}}}
	if d, ok := errors.AsType[*fault.Deadlock](err); ok {
		s.hang = d
	}
	s.survey()
	if s.hang != nil {
		s.slots(s.hang)
		s.found.Silent = s.silent()
	}
	for _, c := range s.candidates() {
		if len(s.found.Found)-s.perRings >= enough || inner.Err() != nil {
			break
		}
		s.edit(c)
	}
	if len(s.found.Found) == 0 && len(s.racy) > 0 {
		s.found.Found = s.racy
	}
	if len(s.found.Found) > 0 {
		s.found.Wrong, s.found.Fixed = nil, nil
	}
	s.found.Took, s.found.Stopped = time.Since(begin), inner.Err() != nil
	return s.found
}

// search is one search.
type search struct {
	ctx   context.Context
	spec  run.Spec
	hang  *fault.Deadlock // nil: messages were left
	found *run.Repairs

	ops   []*op // operations of the kernels, each line, kind and direction once
	known map[opKey]*op
	calls []dialectCall
	ins   []tl.Dir // directions from which some rank has a ring
	outs  []tl.Dir
	world int

	racy     []run.Repair // with which the run ends but has a race; used only if no others are found
	perRings int          // number of repairs that change the slots of some rings
}

// ending is the outcome of a try.
type ending int

const (
	works  ending = iota
	wrong         // the run ended with wrong results
	fails         // it hangs or has a fault
	cannot        // the run could not begin, or was stopped
)

// try runs a spec.
func (s *search) try(spec run.Spec) (ending, error) {
	x, err := run.Load(spec)
	if err != nil {
		return cannot, err
	}
	s.found.Tried++
	out, err := x.Execute(s.ctx, run.Pass{Quiet: true})
	if out != nil && out.Plan != nil {
		s.world = out.Plan.World
	}
	switch {
	case s.ctx.Err() != nil:
		return cannot, s.ctx.Err()
	case err == nil && out.Wrong():
		return wrong, nil
	case err == nil:
		return works, nil
	case fault.Is(err):
		return fails, err
	}
	return cannot, err
}

// others tries a spec at other numbers of ranks.
func (s *search) others(spec run.Spec, world int, r *run.Repair) {
	if spec.Program != "" {
		return // the program supports one number of ranks
	}
	tried := 0
	r.Also = []int{}
	for _, n := range []int{2, 7, 4, 3, 8, 5, 16} {
		if tried == elsewhere || s.ctx.Err() != nil {
			return
		}
		if n == world {
			continue
		}
		at := spec
		at.Ranks, at.Devices = n, nil
		switch end, _ := s.try(at); end {
		case works:
			r.Also = append(r.Also, n)
		case cannot:
			continue // this number is not supported
		default:
			r.NotAt = append(r.NotAt, n)
		}
		tried++
	}
}

// silent reports whether a run hangs in receives, and no kernel would send if it continued. With
// all receives left out, no kernel issues a send.
func (s *search) silent() bool {
	var list []tl.Edit
	for known := -1; known < len(s.ops); {
		known, list = len(s.ops), list[:0]
		for _, o := range s.ops {
			switch o.op {
			case tl.OpSend:
				return false
			case tl.OpRecv:
				list = append(list, tl.Edit{Do: tl.Omit, Line: o.line, Op: o.op, Dir: o.dir})
			}
		}
		if len(list) == 0 {
			return false
		}
		spec := s.spec
		spec.Edits = &tl.Edits{List: list, Seen: s.see, SeenCall: s.seeCall}
		if end, _ := s.try(spec); end == cannot {
			return false
		}
	}
	return true
}

// edit tries an edit, and reports it if it works.
func (s *search) edit(c candidate) {
	spec := s.spec
	user := "" // the send that uses the value of a delayed receive
	spec.Edits = &tl.Edits{List: []tl.Edit{c.edit}, Uses: func(send string, dir tl.Dir) {
		user = cmp.Or(user, fmt.Sprintf("the send to %v at %s", dir, send))
	}}
	switch end, _ := s.try(spec); end {
	case wrong:
		s.found.Wrong = append(s.found.Wrong, c.what)
		return
	case fails, cannot:
		if user != "" && s.inCycle(c.edit.Line) {
			s.found.Fixed = append(s.found.Fixed, fmt.Sprintf("the receive from %v at %s cannot come after %s, which sends the received value",
				c.edit.Dir, c.edit.Line, user))
		}
		return
	}
	r := run.Repair{What: c.what, Line: c.edit.Line}
	if r.Races = s.races(spec); r.Races && len(s.racy) >= enough {
		return
	}
	s.others(spec, s.world, &r)
	if r.Races {
		s.racy = append(s.racy, r)
		return
	}
	s.found.Found = append(s.found.Found, r)
}

// inCycle reports whether a rank of the wait-for cycle is blocked at a line.
func (s *search) inCycle(line string) bool {
	return s.hang != nil && slices.ContainsFunc(s.hang.Blocked, func(b fault.Blocked) bool {
		return b.Line == line && slices.Contains(s.hang.Cycle, b.Rank)
	})
}

// races reports whether a run that works has a race. An edit may let a rank continue too early,
// even if the data arrive in time in this run.
func (s *search) races(spec run.Spec) bool {
	yes := true
	spec.Race = &yes
	x, err := run.Load(spec)
	if err != nil {
		return false // the executor keeps no account
	}
	s.found.Tried++
	r, err := x.Run(s.ctx)
	return err == nil && len(r.Hazards) > 0
}
