package algorithm

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/dtype"
	"kernbench/unit"
)

// Auto stands for an algorithm where one is named: that which a Tuning has for the call.
const Auto = "auto"

// Tuning holds the fastest algorithm for each measured call and machine.
type Tuning struct {
	File   string // where it comes from
	Tables []TuningTable
}

// TuningTable is what is known of a collective of so many ranks of one machine.
type TuningTable struct {
	Topology   string // the machine as it was named
	Machine    string // its fingerprint
	Fidelity   string
	Collective string
	Ranks      int
	Type       dtype.Type
	Rows       []TuningRow // by From, of which the first is 0
}

// TuningRow is what to use from a size on, up to the next row.
type TuningRow struct {
	From     unit.Bytes // of a call: the most that a rank brings or ends with
	Use      string     // an algorithm, or an entry of ccl.yaml
	Settings []string   // over those of its entry, each KEY=VALUE
	Else     []string   // what to use instead where that refuses a call, the fastest first, with settings as configured
}

// Untuned is a call of which a Tuning knows nothing.
type Untuned struct {
	File, Machine string // Machine is the fingerprint of the one that runs
	Collective    string
	Ranks         int
	Topologies    []string // that the tables are for, if not for this machine
	Known         []string // what they are for, on this machine
}

func (e *Untuned) Error() string {
	where := "there is no tuning table"
	switch {
	case e.File != "" && len(e.Topologies) > 0:
		where = fmt.Sprintf("%s was measured on another machine (%s; fingerprint of this one: %s)", e.File,
			strings.Join(e.Topologies, ", "), e.Machine)
	case e.File != "":
		where = fmt.Sprintf("%s knows %s", e.File, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("algorithm %s for %s of %d ranks: %s; make one with: kernbench tune %s --ranks %d --table FILE (and --topology, --set as here), then --tuning FILE",
		Auto, e.Collective, e.Ranks, where, e.Collective, e.Ranks)
}

// For is the table for a collective of so many ranks of a machine, by its fingerprint. If there is
// none for elements of that type, it is one for those that are nearest to it in size. The error is
// an Untuned.
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

// Collectives lists what is known on a machine, each once.
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

// At is the row for a size.
func (t *TuningTable) At(size unit.Bytes) *TuningRow {
	at := 0
	for i := range t.Rows {
		if t.Rows[i].From <= size {
			at = i
		}
	}
	return &t.Rows[at]
}
