package timing

import (
	"cmp"
	"slices"

	"kernbench/unit"
)

// cause is what the start of a slice waited for last.
type cause uint8

const (
	ownTurn    cause = iota // the slice before it
	message                 // its data
	credit                  // a free slot
	dependency              // a flag of another block
	signal                  // a counter
)

// act is a slice that was carried out.
type act struct {
	block, step int32
	before      int32 // act that it waited for last
	why         cause
	start, end  unit.Time
	busy        unit.Time // of the block itself; what is left of end - start links held it up
}

// Result is the time of a call and what it was spent on.
type Result struct {
	Time  unit.Time   `json:"time_ps"` // with the launch
	Ranks []unit.Time `json:"-"`       // end of each
	Path  []Share     `json:"critical_path"`
	Links []LinkUse   `json:"links"` // the busiest
	Steps []Hot       `json:"hottest_steps"`
}

// Share is a part of the critical path: the chain of slices that ends last.
type Share struct {
	What string    `json:"what"`
	Time unit.Time `json:"time_ps"`
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

// What the time of the critical path is spent on.
var shares = []string{
	"launch", "steps: issue, copies, additions", "links that hold blocks up", "messages: links and latency", "credits of full channels",
	"dependencies of blocks", "signals", "collectives, as the library performs them",
}

func (r *run) result() *Result {
	res := &Result{Ranks: make([]unit.Time, r.plan.World())}
	last, end := int32(none), unit.Time(0)
	for i := range r.acts {
		if r.acts[i].end > end {
			last, end = int32(i), r.acts[i].end
		}
	}
	for i := range r.blocks {
		b := &r.blocks[i]
		res.Ranks[b.rank] = max(res.Ranks[b.rank], b.clock+r.model.Launch)
		end = max(end, b.clock, b.landed)
	}
	res.Time = end + r.model.Launch
	times := make([]unit.Time, len(shares))
	times[0] = r.model.Launch
	type place struct{ block, step int32 }
	hot := map[place]unit.Time{}
	for at := last; at != none; at = r.acts[at].before {
		a := &r.acts[at]
		if r.blocks[a.block].steps[a.step].Collective > 0 {
			times[7] += a.busy
		} else {
			times[1] += a.busy
		}
		times[2] += a.end - a.start - a.busy
		from := unit.Time(0)
		if a.before != none {
			from = r.acts[a.before].end
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
		hot[place{a.block, a.step}] += a.end - from
	}
	for i, what := range shares {
		if times[i] > 0 {
			res.Path = append(res.Path, Share{what, times[i]})
		}
	}
	for p, t := range hot {
		b := &r.blocks[p.block]
		res.Steps = append(res.Steps, Hot{r.plan.Where(int(b.rank), int(b.index), int(p.step)), t})
	}
	slices.SortFunc(res.Steps, func(x, y Hot) int { return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Where, y.Where)) })
	res.Steps = res.Steps[:min(len(res.Steps), mostRows)]
	r.busiest(res)
	return res
}

// mostRows is how many links and steps a result names.
const mostRows = 5

func (r *run) busiest(res *Result) {
	var ids []int
	for i, t := range r.links.busy {
		if t > 0 {
			ids = append(ids, i)
		}
	}
	slices.SortStableFunc(ids, func(x, y int) int { return cmp.Compare(r.links.busy[y], r.links.busy[x]) })
	for _, id := range ids[:min(len(ids), mostRows)] {
		res.Links = append(res.Links, LinkUse{r.links.name(id), r.links.busy[id]})
	}
}
