// Package perf measures collectives over sizes, as nccl-tests does. It measures every combination
// of algorithms, types, operations, roots and settings at every size, with limits in each row if
// requested. With inputs of package numerics it measures rounding errors instead (see Round).
//
// It may import lab/run, lab/sweep, lab/limits and packages below them. Start at Spec and Run.
package perf

import (
	"context"

	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/tl"
	"kernbench/unit"
)

// Spec selects the measurements of one collective: every combination of the values in its lists, at
// every size from Min to Max.
type Spec struct {
	// Base has the machine, the ranks, the seed, the executor and its fidelity. Its other fields
	// are ignored.
	Base run.Spec

	Ranks []int // how many take part, in turn; nil: Ranks of Base

	Collective    string   // by its own name or that of nccl-tests
	Algorithms    []string // entries of ccl.yaml or of the library, or auto alone; nil: DefaultAlgorithm
	AllAlgorithms bool     // all of the library that perform it and support these ranks

	Min, Max unit.Bytes // of a call, in the sense of nccl-tests
	Factor   int        // from one size to the next; or
	Step     unit.Bytes // what is added; one of the two is 0

	Types    []dtype.Type  // nil: f32, as in nccl-tests
	Ops      []tl.ReduceOp // nil: sum; ignored if the collective reduces nothing
	Roots    []int         // nil: 0; ignored if the collective has no root
	AllRoots bool

	Iterations, Warmup int        // as the caller set them; each iteration takes the same time
	Check              bool       // move bytes, and judge every result by provenance and by value
	Memory             unit.Bytes // the most bytes of contributions and results of all ranks for which that is done

	MeasureTo unit.Bytes // size up to which calls are simulated, and beyond extrapolated; 0: all, or AutoMeasuresTo

	Bound bool // add the bound to each row

	Vary []sweep.Variation // settings; every combination is measured

	Progress func(p run.Progress) // may be nil
}

// Sweep is the result of a measurement.
type Sweep struct {
	Collective string     `json:"collective"`
	NCCL       string     `json:"-"` // the name that nccl-tests has for it
	Executor   string     `json:"executor"`
	Fidelity   string     `json:"fidelity,omitempty"`
	Machine    string     `json:"machine"`
	Ranks      int        `json:"ranks"`                // 0: rows differ
	RanksList  []int      `json:"ranks_list,omitempty"` // Ranks of the spec, if there are several
	Min        unit.Bytes `json:"min_bytes"`
	Max        unit.Bytes `json:"max_bytes"`
	Factor     int        `json:"factor,omitempty"`
	Step       unit.Bytes `json:"step_bytes,omitempty"`
	Iterations int        `json:"iterations"`
	Warmup     int        `json:"warmup_iterations"`
	Check      bool       `json:"check"`
	Bound      bool       `json:"bound,omitempty"` // rows have one

	Algorithms []string          `json:"algorithms"`
	All        bool              `json:"-"`      // a sweep over all algorithms: rows that an algorithm does not support are left out
	Varied     []sweep.Variation `json:"varied"` // Vary of the spec
	Timed      bool              `json:"timed"`  // the executor has a clock
	Notes      []string          `json:"notes"`

	Sizes    []unit.Bytes `json:"-"`              // of the rows that are planned, ascending
	Planned  int          `json:"rows_planned"`   // without those that are left out
	Rows     []Row        `json:"rows"`           // complete rows, in the order of the plan
	Wrong    int64        `json:"wrong"`          // elements of all rows
	Checked  bool         `json:"checked"`        // at least one row was checked
	AvgBusBW float64      `json:"avg_busbw_gbs"`  // of every row, each placement counting as one
	Best     []Best       `json:"best,omitempty"` // of each call that several rows measured

	MadeBy run.MadeBy `json:"made_by"`

	bus        float64 // sum of BusBW over placements
	placements int
}

// Row is one combination at one size.
type Row struct {
	Size      unit.Bytes      `json:"size"`  // the most that a rank brings or ends with
	Count     int             `json:"count"` // elements, as the call of nccl takes them
	Type      string          `json:"type"`
	RedOp     string          `json:"redop"` // none where nothing is reduced
	Root      int             `json:"root"`  // -1 where there is none
	Algorithm string          `json:"algorithm"`
	Ranks     int             `json:"ranks"`
	Protocol  string          `json:"protocol,omitempty"` // protocol that auto chose without a table; "": as configured
	Chosen    []sweep.Setting `json:"chosen,omitempty"`   // settings of rings and pieces that auto chose without a table
	Settings  []sweep.Setting `json:"settings"`           // those of Vary, in its order
	Launch    unit.Time       `json:"launch_overhead_ps"` // of the call in software, which its times include

	OutOfPlace *sweep.Placement `json:"out_of_place"`
	InPlace    *sweep.Placement `json:"in_place"` // nil: results cannot take the place of contributions
	*Bound                      // nil: not requested

	Extrapolated *Extrapolated `json:"extrapolated,omitempty"` // nil: simulated

	Note string `json:"note,omitempty"` // why nothing was measured or checked, or the command that reproduces a wrong result
}

// Run measures, and hands out what is known before the first row. Then it hands out the rows in
// their order, each as soon as all rows up to it are complete. Either function may be nil. The
// error is a mistake in the spec, or the interruption by ctx; then the finished rows are returned
// too. The error of a failed run is in its row. Of a sweep over all algorithms, rows with data too
// large for the machine are left out. Notes of the sweep name them; begin does not see notes of
// later runs.
func Run(ctx context.Context, s Spec, begin func(*Sweep), row func(*Row)) (*Sweep, error) {
	p, err := planPerf(ctx, &s)
	if err != nil {
		return nil, err
	}
	if begin != nil {
		begin(p.sweep)
	}
	var out leftOut
	shown := func(r *Row) {
		if out.leave(p.sweep, r.Algorithm, r.Settings, r.Size, r.errs()...) {
			p.sweep.Planned--
			return
		}
		p.bound(ctx, r)
		p.sweep.add(r)
		if row != nil {
			row(r)
		}
	}
	if p.auto {
		err = p.measureFastest(ctx, p.callGroups(), shown)
	} else {
		err = p.measure(ctx, shown)
	}
	p.sweep.Notes = append(p.sweep.Notes, out.notes()...)
	p.sweep.Best = p.sweep.bests()
	return p.sweep, err
}

// add counts a row that has ended.
func (s *Sweep) add(r *Row) {
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

// Placements lists the measured placements of a row.
func (r *Row) Placements() []*sweep.Placement {
	var all []*sweep.Placement
	for _, p := range []*sweep.Placement{r.OutOfPlace, r.InPlace} {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}
