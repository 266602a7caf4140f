package perf

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"kernbench/algorithm"
	"kernbench/check/numerics"
	"kernbench/collective"
	"kernbench/exec"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/record/oplog"
	"kernbench/unit"
)

// RoundingSpec is the sweep whose rounding is examined. Every run moves data.
type RoundingSpec struct {
	Spec
	Inputs    []string // sets of package numerics, each in its own rows; nil: the default set
	AllInputs bool
}

// Rounding is the result: the head of a sweep, and a row for each of its rows and inputs.
type Rounding struct {
	Collective string            `json:"collective"`
	Executor   string            `json:"executor"`
	Fidelity   string            `json:"fidelity,omitempty"`
	Machine    string            `json:"machine"`
	Ranks      int               `json:"ranks"` // 0: rows differ
	Seed       uint64            `json:"seed"`
	Algorithms []string          `json:"algorithms"`
	Varied     []sweep.Variation `json:"varied"`
	Inputs     []string          `json:"inputs"`
	Timed      bool              `json:"timed"`
	Notes      []string          `json:"notes"`

	Planned int           `json:"rows_planned"`
	Rows    []RoundingRow `json:"rows"` // complete rows, in the order of the plan

	MadeBy run.MadeBy `json:"made_by"`
}

// RoundingRow is the effect of rounding on one call.
type RoundingRow struct {
	Size      unit.Bytes      `json:"size"`
	Count     int             `json:"count"`
	Type      string          `json:"type"`
	RedOp     string          `json:"redop"`
	Root      int             `json:"root"`
	Algorithm string          `json:"algorithm"`
	Ranks     int             `json:"ranks"`
	Settings  []sweep.Setting `json:"settings"`
	Inputs    string          `json:"inputs"`

	*RoundingFound        // nil: the run did not end
	Note           string `json:"note,omitempty"` // why nothing was measured, or what is wrong with a result
	Err            error  `json:"-"`              // why the run did not end
}

// RoundingFound is the effect of rounding in a run, and in those with other chunks.
type RoundingFound struct {
	numerics.Report
	Additions     int64   `json:"additions"` // in all kernels together
	Stalled       int64   `json:"stalled"`   // additions without effect though neither operand was 0
	FirstStalled  *Origin `json:"first_stalled"`
	FirstOverflow *Origin `json:"first_overflow"` // the first operation that made an infinity or a NaN of finite numbers

	Results    int    `json:"distinct_results"` // among ranks that should have equal results; 0: no such ranks
	RanksAgree *bool  `json:"ranks_agree"`      // nil: no two ranks should have equal results
	Hash       string `json:"hash"`             // of the whole result; that of rank 0 if all ranks have it
	Bits       string `json:"bits"`             // a letter per result of this call: equal letters for equal hashes

	Chunkings      []Chunking `json:"chunkings"`       // the first is the call itself
	ChunkingAgrees *bool      `json:"chunking_agrees"` // nil: there is only one chunking

	Time  unit.Time `json:"time_ps"`     // as in Perf; 0 without a clock
	Moved int64     `json:"moved_bytes"` // between PEs, by rings and one-sided
	Wrong int64     `json:"wrong"`       // elements without exactly one of each contribution
}

// Origin is the first operation with an effect.
type Origin struct {
	Rank    int       `json:"rank"`
	PE      string    `json:"pe"`
	Op      string    `json:"op"`
	Line    string    `json:"line"`
	Time    unit.Time `json:"time_ps"`
	Element int       `json:"element"` // of the operation's result

	text string
}

func (o *Origin) String() string { return o.text }

// Chunking is the same call with another number of elements or other settings, and its results of
// the elements that all chunkings have.
type Chunking struct {
	Name     string          `json:"name"`
	Elements int             `json:"elements"` // of a contribution
	Settings []sweep.Setting `json:"settings"`
	Hash     string          `json:"hash,omitempty"` // of the elements that all have
	Agrees   bool            `json:"agrees"`         // with the first
	Error    string          `json:"error,omitempty"`

	bits []byte
}

// numericsPlan is a sweep over sizes and over inputs.
type numericsPlan struct {
	*perfPlan
	sets    []*numerics.Set
	jobs    []*sweep.Case // by row of perfPlan; nil: there is none
	letters map[string][]string
	out     *Rounding
}

// Round examines rounding in every run of a sweep, and hands out rows as Run does.
func Round(ctx context.Context, s RoundingSpec, begin func(*Rounding), row func(*RoundingRow)) (*Rounding, error) {
	p, err := planNumerics(ctx, &s)
	if err != nil {
		return nil, err
	}
	if begin != nil {
		begin(p.out)
	}
	var out leftOut
	done, total := int64(0), int64(p.out.Planned)
	err = sweep.InOrder(ctx, p.out.Planned, func(i int) *RoundingRow { return p.row(ctx, i) }, func(r *RoundingRow) {
		if done++; s.Progress != nil {
			s.Progress(run.Progress{Phase: "numerics", Done: done, Total: total})
		}
		if r.Err != nil && out.leave(p.sweep, r.Algorithm, r.Settings, r.Size, r.Err) {
			p.out.Planned--
			return
		}
		p.letter(r)
		p.out.Rows = append(p.out.Rows, *r)
		if row != nil {
			row(r)
		}
	})
	p.out.Notes = append(p.out.Notes, out.notes()...)
	return p.out, err
}

func planNumerics(ctx context.Context, s *RoundingSpec) (*numericsPlan, error) {
	what, err := sweep.FindCollective(s.Collective)
	if err != nil {
		return nil, err
	}
	if !what.Reduces {
		return nil, fmt.Errorf("%s performs no additions, so no result is rounded", what.Name)
	}
	p := &numericsPlan{letters: map[string][]string{}}
	if s.AllInputs {
		s.Inputs = nil
		p.sets = numerics.Sets()
	}
	for _, name := range s.Inputs {
		set, err := numerics.LookupSet(name)
		if err != nil {
			return nil, err
		}
		p.sets = append(p.sets, set)
	}
	if len(p.sets) == 0 {
		p.sets = numerics.Sets()[:1]
	}
	row, err := run.ExecutorOf(s.Base.Executor)
	if err != nil {
		return nil, err
	}
	if err := row.Needs(exec.Data); err != nil {
		return nil, fmt.Errorf("numerics: %w", err)
	}
	s.Check, s.Bound, s.MeasureTo = true, false, unit.Bytes(math.MaxInt64) // no row is extrapolated
	if p.perfPlan, err = planPerf(ctx, &s.Spec); err != nil {
		return nil, err
	}
	if p.auto {
		return nil, fmt.Errorf("algorithm %s chooses by a tuning table, and none is given: name algorithms, or all",
			algorithm.Auto)
	}
	for _, t := range s.Types {
		for _, op := range s.Ops {
			if err := numerics.Applies(t, op); err != nil {
				return nil, err
			}
		}
	}
	sw := p.sweep
	p.out = &Rounding{
		Collective: sw.Collective, Executor: sw.Executor, Fidelity: sw.Fidelity, Machine: sw.Machine, Ranks: sw.Ranks, Seed: s.Base.Seed,
		Algorithms: sw.Algorithms, Varied: sw.Varied, Timed: sw.Timed, Notes: sw.Notes, MadeBy: sw.MadeBy,
		Planned: len(p.rows) * len(p.sets), Rows: []RoundingRow{}, Inputs: []string{},
	}
	for _, set := range p.sets {
		p.out.Inputs = append(p.out.Inputs, set.Name)
	}
	p.jobs = make([]*sweep.Case, len(p.rows))
	for _, j := range p.perfPlan.jobs {
		if p.jobs[j.Row] == nil { // out of place, where there is such a placement
			p.jobs[j.Row] = j
		}
	}
	return p, nil
}

// row makes the runs of a row.
func (p *numericsPlan) row(ctx context.Context, i int) *RoundingRow {
	r, set := p.rows[i/len(p.sets)], p.sets[i%len(p.sets)]
	out := &RoundingRow{
		Size: r.Size, Count: r.Count, Type: r.Type, RedOp: r.RedOp, Root: r.Root, Algorithm: r.Algorithm, Ranks: r.Ranks,
		Settings: r.Settings, Inputs: set.Name, Note: r.Note,
	}
	j := p.jobs[i/len(p.sets)]
	if j == nil || j.Bytes == 0 {
		return out // the note has the reason
	}
	// The tree of an element needs more memory than the element.
	if need := j.Bytes * unit.Bytes(1+treeBytes/j.Call.Type.Size()); need > p.spec.Memory {
		out.Note = fmt.Sprintf("not examined: the data of all ranks and their trees need %v, more than --mem %v", need, p.spec.Memory)
		return out
	}
	out.RoundingFound, out.Err = p.find(ctx, j, set)
	switch {
	case out.Err != nil:
		out.Note, out.RoundingFound = out.Err.Error(), nil
	case out.Wrong > 0:
		out.Note = fmt.Sprintf("%d elements do not have each contribution exactly once: kernbench perf without --numerics explains it",
			out.Wrong)
	case out.Beyond > 0:
		out.Note = fmt.Sprintf("%d elements are farther off than their trees of additions allow", out.Beyond)
	}
	return out
}

const treeBytes = 16

// letter gives a row the letter of its result among those of the same call.
func (p *numericsPlan) letter(r *RoundingRow) {
	if r.RoundingFound == nil {
		return
	}
	key := fmt.Sprint(r.Count, r.Type, r.RedOp, r.Root, r.Ranks, r.Inputs)
	at := slices.Index(p.letters[key], r.Hash)
	if at < 0 {
		at = len(p.letters[key])
		p.letters[key] = append(p.letters[key], r.Hash)
	}
	if r.Bits = strconv.Itoa(at + 1); at < 26 {
		r.Bits = string(rune('A' + at))
	}
}

// Bad reports whether a row shows a defect: a run that failed, a result that is wrong or farther
// off than it can be. Sums that overflow or stall are a property of the type, and no defect.
func (r *RoundingRow) Bad() bool {
	return r.Err != nil || r.RoundingFound != nil && (r.Wrong > 0 || r.Beyond > 0)
}

// origin returns the first event of a kind, or nil.
func origin(e *oplog.Event) *Origin {
	if e == nil {
		return nil
	}
	p := e.Place
	return &Origin{Rank: p.Rank, PE: p.PE, Op: p.Op, Line: p.Line, Time: p.Time, Element: e.Element, text: p.String()}
}

// elements returns how many elements of a contribution a result has the sum of, and where in the
// contribution they begin.
func elements(what *collective.Collective, c collective.Call, rank int) (first, n int) {
	for _, p := range what.Parts(nil, c, rank) {
		return int(p.Base), p.N
	}
	return 0, 0
}
