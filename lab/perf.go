package lab

import (
	"context"
	"fmt"

	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

// PerfSpec says what to measure of one collective: every combination of what its lists name, at
// every size from Min to Max.
type PerfSpec struct {
	// Base is the machine, the ranks, the seed, the executor and its fidelity; what else it says
	// is not asked.
	Base Spec

	Collective    string   // by its own name or that of nccl-tests
	Algorithms    []string // entries of ccl.yaml or of the library, or auto alone; nil: one, as DefaultAlgorithm says
	AllAlgorithms bool     // all of the library that perform it and can have these ranks

	Min, Max unit.Bytes // of a call, in the sense of nccl-tests
	Factor   int        // from one size to the next; or
	Step     unit.Bytes // what is added; one of the two is 0

	Types    []dtype.Type  // nil: f32, as in nccl-tests
	Ops      []tl.ReduceOp // nil: sum; not asked where nothing is reduced
	Roots    []int         // nil: 0; not asked where there is no root
	AllRoots bool

	Iterations, Warmup int        // that the caller asked for, each of which takes the time of any other
	Check              bool       // move bytes, and judge every result by provenance and by value
	Memory             unit.Bytes // contributions and results of all ranks up to which that is done

	Bound bool // say beside each row how fast it could have been

	Vary []Variation // settings of which every combination is measured

	Progress func(p Progress) // may be nil
}

// Variation is a key of either configuration file, or of the algorithm, and what it is to be in
// turn.
type Variation struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Sweep is what was measured.
type Sweep struct {
	Collective string     `json:"collective"`
	Executor   string     `json:"executor"`
	Fidelity   string     `json:"fidelity,omitempty"`
	Machine    string     `json:"machine"`
	Ranks      int        `json:"ranks"` // 0: rows differ
	Min        unit.Bytes `json:"min_bytes"`
	Max        unit.Bytes `json:"max_bytes"`
	Factor     int        `json:"factor,omitempty"`
	Step       unit.Bytes `json:"step_bytes,omitempty"`
	Iterations int        `json:"iterations"`
	Warmup     int        `json:"warmup_iterations"`
	Check      bool       `json:"check"`
	Bound      bool       `json:"bound,omitempty"` // rows have one

	Algorithms []string    `json:"algorithms"`
	All        bool        `json:"-"`      // they are all that there are: rows of what one cannot do are left out
	Varied     []Variation `json:"varied"` // Vary of the spec
	Timed      bool        `json:"timed"`  // the executor has a clock
	Notes      []string    `json:"notes"`

	Planned  int       `json:"rows_planned"`  // without those that are left out
	Rows     []PerfRow `json:"rows"`          // that came to their end, in the order of the plan
	Wrong    int64     `json:"wrong"`         // elements of all rows
	Checked  bool      `json:"checked"`       // some row was
	AvgBusBW float64   `json:"avg_busbw_gbs"` // of every row, each placement counting as one

	MadeBy MadeBy `json:"made_by"`

	bus        float64 // sum of BusBW of so many placements
	placements int
}

// PerfRow is one combination at one size.
type PerfRow struct {
	Size      unit.Bytes `json:"size"`  // the most that a rank brings or ends with
	Count     int        `json:"count"` // elements, as the call of nccl takes them
	Type      string     `json:"type"`
	RedOp     string     `json:"redop"` // none where nothing is reduced
	Root      int        `json:"root"`  // -1 where there is none
	Algorithm string     `json:"algorithm"`
	Ranks     int        `json:"ranks"`
	Settings  []Setting  `json:"settings"`           // what Vary made of them, in its order
	Launch    unit.Time  `json:"launch_overhead_ps"` // of the call in software, which its times have in them

	OutOfPlace *Placement `json:"out_of_place"`
	InPlace    *Placement `json:"in_place"` // nil: results cannot take the place of contributions
	*PerfBound            // nil: nobody asked

	Note string `json:"note,omitempty"` // why nothing was measured or checked, or what shows again what is wrong
}

// Setting is a key of a configuration and its value.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Placement is a collective with results in a place of their own, or in that of the
// contributions.
type Placement struct {
	Time  unit.Time `json:"time_ps"`   // simulated, and behind the Launch of the row
	AlgBW float64   `json:"algbw_gbs"` // 1e9 bytes per second
	BusBW float64   `json:"busbw_gbs"`
	Wrong *int64    `json:"wrong"` // elements of all ranks; nil: nobody looked

	Error string `json:"error,omitempty"` // what kept it from its end
	Err   error  `json:"-"`               // the same as a type
}

// Perf measures, and hands out what is known before the first row, and the rows in their order,
// each as soon as it and those before it are there; either function may be nil. The error is a
// mistake in the spec, or the interruption by ctx, with which comes what was finished. A run
// that fails is in its row. Of a sweep over all algorithms, rows with data too large for the machine
// are left out, and notes of the sweep say so, those of runs behind the ones that begin sees.
func Perf(ctx context.Context, s PerfSpec, begin func(*Sweep), row func(*PerfRow)) (*Sweep, error) {
	p, err := planPerf(ctx, &s)
	if err != nil {
		return nil, err
	}
	if begin != nil {
		begin(p.sweep)
	}
	var out leftOut
	err = p.measure(ctx, p.pick(func(r *PerfRow) {
		if out.leave(p.sweep, r.Algorithm, r.Settings, r.Size, r.errs()...) {
			p.sweep.Planned--
			return
		}
		p.bound(r)
		p.sweep.add(r)
		if row != nil {
			row(r)
		}
	}))
	p.sweep.Notes = append(p.sweep.Notes, out.notes()...)
	return p.sweep, err
}

// add counts a row that came to its end.
func (s *Sweep) add(r *PerfRow) {
	s.Rows = append(s.Rows, *r)
	for _, p := range r.Placements() {
		if p.Err != nil {
			continue
		}
		s.bus, s.placements = s.bus+p.BusBW, s.placements+1
		s.AvgBusBW = s.bus / float64(s.placements)
		if p.Wrong != nil {
			s.Wrong, s.Checked = s.Wrong+*p.Wrong, true
		}
	}
}

// Placements lists what was measured of a row.
func (r *PerfRow) Placements() []*Placement {
	var all []*Placement
	for _, p := range []*Placement{r.OutOfPlace, r.InPlace} {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// maxSizes bounds a sweep: a step that is too small is a slip of the pen.
const maxSizes = 4096

// sizes lists those of a sweep.
func (s *PerfSpec) sizes() ([]unit.Bytes, error) {
	switch {
	case s.Min < 1:
		return nil, fmt.Errorf("smallest size %v: at least 1 B is needed", s.Min)
	case s.Max < s.Min:
		return nil, fmt.Errorf("sizes from %v to %v: the largest is below the smallest", s.Min, s.Max)
	case s.Factor != 0 && s.Step != 0:
		return nil, fmt.Errorf("sizes by a factor of %d and by steps of %v: one of the two says how they grow", s.Factor, s.Step)
	case s.Step < 0 || s.Step == 0 && s.Factor < 2 && s.Min < s.Max:
		return nil, fmt.Errorf("sizes from %v to %v by a factor of %d: at least 2 is needed, or a step", s.Min, s.Max, s.Factor)
	}
	var all []unit.Bytes
	for size := s.Min; ; {
		if all = append(all, size); len(all) > maxSizes {
			return nil, fmt.Errorf("sizes from %v to %v by steps of %v: more than %d of them", s.Min, s.Max, s.Step, maxSizes)
		}
		switch {
		case s.Step > 0 && s.Step <= s.Max-size:
			size += s.Step
		case s.Step == 0 && s.Factor >= 2 && size <= s.Max/unit.Bytes(s.Factor):
			size *= unit.Bytes(s.Factor)
		default:
			return all, nil
		}
	}
}
