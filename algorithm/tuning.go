package algorithm

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/dtype"
	"kernbench/unit"
)

// Auto is the name for the algorithm that a Tuning chooses for a call.
const Auto = "auto"

// Tuning holds the fastest algorithm for each measured call and machine.
type Tuning struct {
	File   string // the file it was read from
	Tables []TuningTable
}

// TuningTable holds the choices for one collective on one number of ranks of one machine.
type TuningTable struct {
	Topology   string // the name of the machine, as given to kernbench tune
	Machine    string // its fingerprint
	Fidelity   string
	Collective string
	Ranks      int
	Type       dtype.Type
	Rows       []TuningRow // sorted by From; the first has From 0

	// SimulateTo is the size from which, and from its half, times of larger ones were extrapolated;
	// 0: all were simulated.
	SimulateTo unit.Bytes
}

// TuningRow is the choice for sizes of at least From and less than From of the next row.
type TuningRow struct {
	From     unit.Bytes // of a call: the larger of a rank's input and output
	Use      string     // an algorithm, or an entry of ccl.yaml
	Settings []string   // KEY=VALUE; they override those of its entry
	Else     []string   // what to use if Use rejects a call, fastest first, with settings as configured
}

// Untuned is the error for a call for which a Tuning has no table.
type Untuned struct {
	File, Machine string // Machine is the fingerprint of this machine
	Collective    string
	Ranks         int
	Topologies    []string // of the tables, if none is for this machine
	Known         []string // the calls that have tables, on this machine
}

func (e *Untuned) Error() string {
	where := "there is no tuning table"
	switch {
	case e.File != "" && len(e.Topologies) > 0:
		where = fmt.Sprintf("%s was measured on another machine (%s; fingerprint of this one: %s)", e.File,
			strings.Join(e.Topologies, ", "), e.Machine)
	case e.File != "":
		where = fmt.Sprintf("%s has tables for %s", e.File, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("algorithm %s for %s of %d ranks: %s; make one with: kernbench tune %s --ranks %d --table FILE (with the same --topology and --set), then --tuning FILE",
		Auto, e.Collective, e.Ranks, where, e.Collective, e.Ranks)
}

// For returns the table for a collective on a number of ranks of a machine, which its fingerprint
// names. If there is none for elements of type typ, it returns that of the type nearest in size.
// The error is an Untuned.
func (t *Tuning) For(machine, collective string, ranks int, typ dtype.Type) (*TuningTable, error) {
	no := &Untuned{Machine: machine, Collective: collective, Ranks: ranks}
	if t == nil {
		return nil, no
	}
	no.File = t.File
	var best *TuningTable
	here := false
	for i := range t.Tables {
		x := &t.Tables[i]
		if x.Machine != machine {
			if !slices.Contains(no.Topologies, x.Topology) {
				no.Topologies = append(no.Topologies, x.Topology)
			}
			continue
		}
		here = true
		if known := fmt.Sprintf("%s of %d ranks", x.Collective, x.Ranks); !slices.Contains(no.Known, known) {
			no.Known = append(no.Known, known)
		}
		if x.Collective == collective && x.Ranks == ranks && (best == nil || farther(typ, best.Type, x.Type)) {
			best = x
		}
	}
	if best != nil {
		return best, nil
	}
	if here {
		no.Topologies = nil
	}
	return nil, no
}

// farther reports whether type a is farther from typ than b is.
func farther(typ, a, b dtype.Type) bool {
	off := func(x dtype.Type) int {
		switch d := x.Size() - typ.Size(); {
		case x == typ:
			return -1
		case d < 0:
			return -d
		default:
			return d
		}
	}
	return off(b) < off(a)
}

// Collectives lists the collectives that have tables for a machine, each once.
func (t *Tuning) Collectives(machine string) []string {
	var all []string
	if t != nil {
		for i := range t.Tables {
			if x := &t.Tables[i]; x.Machine == machine && !slices.Contains(all, x.Collective) {
				all = append(all, x.Collective)
			}
		}
	}
	return all
}

// At returns the row for a size.
func (t *TuningTable) At(size unit.Bytes) *TuningRow {
	at := 0
	for i := range t.Rows {
		if t.Rows[i].From <= size {
			at = i
		}
	}
	return &t.Rows[at]
}
