// Package explain attributes the simulated time of a run. It walks the causes of the run back
// from its end. Each picosecond of this critical path belongs to one operation of one rank, at
// one resource, for one reason. All of them add up to the simulated time.
//
// It may import lab/run, lab/limits and packages below them. Start at Spec and Run.
package explain

import (
	"context"
	"errors"
	"fmt"

	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/record/cause"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Spec is the run to explain, and the part of its time.
type Spec struct {
	Run run.Spec

	Root int  // of the collective, for its bound; not asked where there is none
	Rank *int // rank whose end is explained; nil: the end of the run

	Detail bool // keep what ranks and links did at each moment: see Report.Detail

	// From and Until bound the part of simulated time that is explained. Until 0 is the end.
	From, Until unit.Time
}

// Report is the breakdown of a run's simulated time.
type Report struct {
	Bench      string     `json:"bench"`
	Algorithm  string     `json:"algorithm,omitempty"`
	Collective string     `json:"collective,omitempty"`
	Machine    string     `json:"machine"`
	Fidelity   string     `json:"fidelity,omitempty"`
	WorldSize  int        `json:"world_size"`
	Bytes      unit.Bytes `json:"bytes_per_rank"`
	Spec       run.Spec   `json:"spec"`

	SimulatedTime unit.Time `json:"simulated_time_ps"`
	Launch        unit.Time `json:"launch_overhead_ps"` // of software, before the simulated time; a blame of its own
	Rank          *int      `json:"rank,omitempty"`     // whose end is explained
	From          unit.Time `json:"from_ps"`
	Until         unit.Time `json:"until_ps"`
	Explained     unit.Time `json:"explained_ps"` // all blames, that of the launch with them
	LeftOver      unit.Time `json:"left_over_ps"` // 0

	Reasons   []Share `json:"reasons"`
	Lines     []Share `json:"lines"`
	Steps     []Share `json:"steps"` // in their order; nil: of a file that has none
	Resources []Share `json:"resources"`
	Classes   []Share `json:"resource_classes"`
	Blames    []Blame `json:"blames"`
	Story     []Wait  `json:"story"`
	Gap       *Gap    `json:"gap,omitempty"` // to the bound; nil: none is known
	Slots     *Slots  `json:"slots,omitempty"`

	Changes []Change `json:"what_if,omitempty"` // see WhatIf

	Points int        `json:"points"` // of the log of causes
	Notes  []string   `json:"notes"`
	MadeBy run.MadeBy `json:"made_by"`

	Protocol string `json:"protocol,omitempty"`

	machine *machine.Machine
	job     *run.Job
	crowded bool       // see trialLog
	buffer  unit.Bytes // of links
	detail  *Detail
	message int64 // bytes of those of the ring whose credits are waited for; 0: none
}

// explaining is a run that is explained.
type explaining struct {
	log *cause.Log
	m   *machine.Machine
	job *run.Job
}

// Run performs a run and explains its time. The error is that of the run, or the reason why the
// time cannot be explained. A result that is wrong is no error: look at the Result.
func Run(ctx context.Context, s Spec) (*Report, *run.Result, error) {
	r, res, err := explain(ctx, s)
	if err != nil {
		return nil, res, err
	}
	r.gap(ctx, &s, res)
	return r, res, nil
}

// explain is Run without the gap to the bound.
func explain(ctx context.Context, s Spec) (*Report, *run.Result, error) {
	if s.Run.Schedule != 0 || s.Run.Schedules != 0 {
		return nil, nil, errors.New("explain: delays of a random schedule cannot be explained: leave random schedules out")
	}
	x := &explaining{log: prunedLog()}
	if s.Detail {
		x.log = cause.New()
	}
	no := false
	s.Run.Causes, s.Run.Race = x.log, &no
	if s.Run.TraceFile != "" {
		s.Run.CriticalPath = x.steps
	}
	job, err := run.Load(s.Run)
	if err != nil {
		return nil, nil, err
	}
	x.m, x.job = job.Machine, job
	res, err := job.Run(ctx)
	if err != nil {
		return nil, res, err
	}
	r, err := x.report(&s, res)
	res.Spec.Causes = nil // the log can take hundreds of MiB
	return r, res, err
}

// prunedLog makes a log that keeps only points that can be on the critical path.
func prunedLog() *cause.Log { return cause.NewPruned(1 << 20) }

// Time returns the simulated time of the run with that of its launches.
func (r *Report) Time() unit.Time { return r.SimulatedTime + r.Launch }

// report makes the report of a run that has ended.
func (x *explaining) report(s *Spec, res *run.Result) (*Report, error) {
	r := &Report{
		Bench: res.Bench, Algorithm: res.Algorithm, Collective: res.Collective, Machine: res.Machine, Fidelity: res.Fidelity,
		WorldSize: res.WorldSize, Bytes: res.BytesPerRank, Spec: s.Run, SimulatedTime: res.SimulatedTime, Launch: res.Launch,
		Rank: s.Rank, Points: x.log.Points(), MadeBy: res.MadeBy, Notes: []string{}, Story: []Wait{},
	}
	r.From, r.Until = s.From, s.Until
	r.crowded = x.log.Capacity() >= maxReplayCauses
	job := *x.job
	for _, of := range []*run.Spec{&r.Spec, &job.Spec} { // what is of this run, and not of changed runs
		of.TraceFile, of.CriticalPath, of.Events, of.Causes = "", nil, nil, nil
	}
	r.machine, r.job, r.buffer, r.Protocol = x.m, &job, job.Machine.Topology().Fabric().BufferBytes, job.Protocol()
	runs := counted(x.log, res.Counted)
	if len(runs) != len(res.Counted) {
		return nil, fmt.Errorf("internal error: causes of %d launches, and times of %d", len(runs), len(res.Counted))
	}
	if len(runs) > 0 {
		end := runs[len(runs)-1].End
		if s.From > end {
			return nil, fmt.Errorf("nothing to explain from %v on: the run ends at %v", s.From, end)
		}
		if r.Until == 0 {
			r.Until = end
		}
	}
	if s.Detail {
		r.detail = &Detail{x, runs, s.Rank}
	}
	var pieces []piece
	var want unit.Time
	var waits []cause.Waiting
	for i := range runs {
		v := runs[i]
		want += max(0, min(v.End, r.Until)-max(v.Start, r.From))
		own, chain, err := x.chain(&v, s.Rank)
		if err != nil {
			return nil, err
		}
		for _, p := range own {
			p.start, p.end = max(p.start, r.From), min(p.end, r.Until)
			if p.start < p.end {
				pieces = append(pieces, p)
			}
		}
		for _, w := range chain.Waits {
			if w.Until > r.From && w.Since < r.Until {
				waits = append(waits, w)
			}
		}
	}
	r.Blames = x.blames(pieces)
	r.message = x.stalled(r.Blames)
	launch := unit.Time(0)
	if s.From == 0 && s.Until == 0 {
		launch = r.Launch
		want += launch
		r.Blames = withLaunch(r.Blames, launch)
	}
	for _, b := range r.Blames {
		r.Explained += b.Time
	}
	r.LeftOver = want - r.Explained
	r.Reasons = shares(r.Blames, r.Explained, func(b *Blame) string { return b.Reason })
	r.Lines = shares(r.Blames, r.Explained, func(b *Blame) string { return lineName(b) })
	r.Steps = x.byStep(pieces, launch, r.Explained)
	r.Resources = shares(r.Blames, r.Explained, func(b *Blame) string { return b.Resource })
	r.Classes = shares(r.Blames, r.Explained, func(b *Blame) string { return b.Class })
	r.Story = x.story(waits)
	return r, nil
}

// lineName names the source line of an operation.
func lineName(b *Blame) string {
	if b.Line == "" {
		return b.Call
	}
	return b.Line + " " + b.Call
}

// chain returns the critical path of a launch, up to the end of a rank or of all.
func (x *explaining) chain(v *cause.Run, rank *int) ([]piece, *cause.Chain, error) {
	if v.End == v.Start {
		return nil, &cause.Chain{}, nil
	}
	last := v.Last
	if rank != nil {
		last = 0
		for i, r := range v.Ranks {
			if int(r) == *rank && v.Ends[i] != 0 && (last == 0 || x.log.Time(v.Ends[i]) > x.log.Time(last)) {
				last = v.Ends[i]
			}
		}
		if last == 0 {
			return nil, nil, fmt.Errorf("rank %d: the launch has ranks 0 to %d", *rank, len(v.Ranks)-1)
		}
	}
	chain := x.log.Walk(last)
	pieces := (&cutter{log: x.log, m: x.m}).cut(chain)
	if end := x.log.Time(last); end < v.End {
		pieces = append(pieces, piece{start: end, end: v.End, Owner: x.log.Owner(last), why: cause.Imbalance})
	}
	return pieces, chain, nil
}

// counted returns the runs of a log that are those of some results, in their order.
func counted(log *cause.Log, results []*launch.Result) []cause.Run {
	var out []cause.Run
	for _, v := range log.Runs() {
		if len(out) < len(results) && results[len(out)].Start == v.Start && results[len(out)].End == v.End {
			out = append(out, v)
		}
	}
	return out
}
