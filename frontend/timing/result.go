package timing

import (
	"cmp"
	"slices"

	"kernbench/frontend/plan"
	"kernbench/unit"
)

// cause is the last event that the start of a slice waited for.
type cause uint8

const (
	ownTurn    cause = iota // the slice before it
	message                 // its data
	credit                  // a free slot
	dependency              // a flag of another block
	signal                  // a counter
)

// Detail selects the contents of a Result.
type Detail struct {
	Rows int // of each table
	Rank int // rank whose end is explained; None: the end of the call
}

// Result is the time of a call and what it was spent on.
type Result struct {
	Time  unit.Time   `json:"time_ps"`    // with the launch
	Until unit.Time   `json:"path_ps"`    // of the critical path: the same, or the end of the rank that is explained
	Ranks []unit.Time `json:"rank_times"` // end of each
	Path  []Share     `json:"critical_path"`
	Ops   []Op        `json:"operations"`
	Waits []Wait      `json:"waits"`         // the longest on the path
	Links []LinkUse   `json:"links"`         // the busiest
	Steps []Hot       `json:"hottest_steps"` // of the path
}

// Share is a part of the critical path: the chain of slices that ends last.
type Share struct {
	What string    `json:"what"`
	Time unit.Time `json:"time_ps"`
}

// Op is an operation of the file, by its name there.
type Op struct {
	Name  string    `json:"name"`
	Count int       `json:"count"` // of slices on the path
	Time  unit.Time `json:"time_ps"`
}

// Wait is a gap of the path: a step waits for what another one caused.
type Wait struct {
	Where string    `json:"where"`
	For   string    `json:"for"`
	Of    string    `json:"of"`
	Time  unit.Time `json:"time_ps"`
}

// LinkUse is for how long a link was taken.
type LinkUse struct {
	Name string    `json:"name"`
	Busy unit.Time `json:"busy_ps"`
}

// Hot is a step of the file and its time on the critical path.
type Hot struct {
	Where string    `json:"where"`
	Time  unit.Time `json:"time_ps"`
}

// shares are the activities that the time of the critical path is spent on.
var shares = []string{
	"launch", "steps: issue, copies, additions", "links that hold blocks up", "messages: links and latency", "credits of full channels",
	"dependencies of blocks", "signals", "collectives, as the library performs them",
}

// waited are the words for what a slice waited for.
var waited = [...]string{ownTurn: "", message: "a message", credit: "a free slot", dependency: "a dependency", signal: "a signal"}

// result returns what came out of a run that has ended. Windows are its states: see all.
func (r *run) result(d Detail, windows []*run) *Result {
	res := &Result{Ranks: make([]unit.Time, r.plan.World())}
	last, end := r.acts.last, r.acts.end
	for i := range r.blocks {
		b := &r.blocks[i]
		of := max(b.clock, b.landed) + r.model.Launch
		res.Ranks[b.rank] = max(res.Ranks[b.rank], of)
		res.Time = max(res.Time, of)
	}
	if res.Until = max(res.Time, r.model.Launch); d.Rank != plan.None {
		res.Until = res.Ranks[d.Rank]
	}
	res.Time = max(res.Time, r.model.Launch)
	times := make([]unit.Time, len(shares))
	times[0] = r.model.Launch
	if last != none { // what is written elsewhere arrives after its step has ended
		times[3] = res.Until - r.model.Launch - end
	}
	type place struct{ block, step int32 }
	hot := map[place]unit.Time{}
	ops := map[string]Op{}
	chain := path{r, windows}
	var a, before act
	for at := last; at != none; at, a = a.before, before {
		if at == last {
			a = chain.act(at)
		}
		if a.before != none {
			before = chain.act(a.before)
		}
		if r.blocks[a.block].steps[a.step].Collective > 0 {
			times[7] += a.busy
		} else {
			times[1] += a.busy
		}
		times[2] += a.end - a.start - a.busy
		from := unit.Time(0)
		if a.before != none {
			from = before.end
		}
		gap := a.start - from
		switch a.why {
		case message:
			times[3] += gap
		case credit:
			times[4] += gap
		case dependency:
			times[5] += gap
		case signal:
			times[6] += gap
		}
		if gap > 0 && a.why != ownTurn && a.before != none {
			res.Waits = append(res.Waits, Wait{r.where(&a), waited[a.why], r.where(&before), gap})
		}
		hot[place{a.block, a.step}] += a.end - from
		name := r.blocks[a.block].steps[a.step].Op
		op := ops[name]
		ops[name] = Op{name, op.Count + 1, op.Time + a.end - from}
	}
	for i, what := range shares {
		if times[i] > 0 {
			res.Path = append(res.Path, Share{what, times[i]})
		}
	}
	for p, t := range hot {
		res.Steps = append(res.Steps, Hot{r.where(&act{block: p.block, step: p.step}), t})
	}
	slices.SortFunc(res.Steps, func(x, y Hot) int { return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Where, y.Where)) })
	res.Steps = res.Steps[:min(len(res.Steps), d.Rows)]
	for _, op := range ops {
		res.Ops = append(res.Ops, op)
	}
	slices.SortFunc(res.Ops, func(x, y Op) int { return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Name, y.Name)) })
	res.Ops = res.Ops[:min(len(res.Ops), d.Rows)]
	slices.SortStableFunc(res.Waits, func(x, y Wait) int { return cmp.Compare(y.Time, x.Time) })
	res.Waits = res.Waits[:min(len(res.Waits), d.Rows)]
	r.busiest(res, d.Rows)
	return res
}

// where names the step of an act.
func (r *run) where(a *act) string {
	b := &r.blocks[a.block]
	return r.plan.Where(int(b.rank), int(b.index), int(a.step))
}

func (r *run) busiest(res *Result, rows int) {
	var ids []int
	for i, t := range r.links.busy {
		if t > 0 {
			ids = append(ids, i)
		}
	}
	slices.SortStableFunc(ids, func(x, y int) int { return cmp.Compare(r.links.busy[y], r.links.busy[x]) })
	for _, id := range ids[:min(len(ids), rows)] {
		res.Links = append(res.Links, LinkUse{r.links.name(id), r.links.busy[id]})
	}
}
