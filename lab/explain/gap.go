package explain

import (
	"context"
	"fmt"
	"slices"

	"kernbench/dtype"
	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/record/cause"
	"kernbench/unit"
)

// Gap is the difference between the time of a collective and the lowest that the machine allows. The
// bound and the terms add up to the time. The bound has the time of the launch in it, as that of perf has.
type Gap struct {
	Bound   unit.Time `json:"bound_ps"`
	Binding string    `json:"bound_binding"` // what sets the bound
	Percent float64   `json:"percent_of_bound"`
	Terms   []Term    `json:"terms"`
}

// Term is time beyond the bound, by its reason.
type Term struct {
	Reason string    `json:"reason"`
	Time   unit.Time `json:"time_ps"`
}

// Slots says how many slots of the rings would be enough, where credits are waited for.
type Slots struct {
	Have      int       `json:"n_slots"`
	Enough    int       `json:"enough"`
	RoundTrip unit.Time `json:"round_trip_ps"`
	SlotBytes int64     `json:"slot_bytes"`
}

// needed is the order in which the time of the bound is taken off the reasons: what any algorithm needs
// comes first.
var needed = []cause.Reason{
	cause.Launch, cause.Serialisation, cause.Queueing, cause.Memory, cause.Latency, cause.Router, cause.Arithmetic, cause.Credit, cause.Issue,
	cause.Protocol, cause.Wake, cause.Delay, cause.Imbalance, cause.Unknown,
}

// gap compares the time with the bound of the collective, if it explains one collective whole.
func (r *Report) gap(ctx context.Context, s *Spec, res *run.Result) {
	if res.Collective == "" || len(res.Counted) != 1 || res.Collectives > 1 || s.Rank != nil || r.Explained != r.Time() {
		return
	}
	typ, err := dtype.Parse(res.DType)
	if err != nil {
		return
	}
	base := s.Run
	base.Algorithm, base.NElem, base.DType, base.Program, base.Causes, base.Events = res.Algorithm, res.ElemsPerRank, typ, "", nil, nil
	if base.Devices == nil {
		base.Ranks = res.WorldSize
	}
	l, err := limits.Run(ctx, limits.Spec{Base: base, Collective: res.Collective, Root: s.Root})
	if err != nil || len(l.Rows) != 1 {
		r.Notes = append(r.Notes, fmt.Sprintf("no bound: %v", err))
		return
	}
	row := &l.Rows[0]
	g := &Gap{Bound: row.Hardware + r.Launch, Binding: string(row.ByHardware), Terms: []Term{}}
	if r.Time() > 0 {
		g.Percent = 100 * float64(g.Bound) / float64(r.Time())
	}
	left := g.Bound
	for _, why := range needed {
		i := slices.IndexFunc(r.Reasons, func(s Share) bool { return s.Name == why.String() })
		if i < 0 {
			continue
		}
		t := r.Reasons[i].Time
		part := min(t, left)
		left -= part
		if t > part {
			g.Terms = append(g.Terms, Term{why.String(), t - part})
		}
	}
	slices.SortStableFunc(g.Terms, func(a, b Term) int { return int(min(1, max(-1, b.Time-a.Time))) })
	if left == 0 {
		r.Gap = g
	}
	stalls := slices.ContainsFunc(r.Reasons, func(s Share) bool { return s.Name == cause.Credit.String() })
	for _, b := range row.Bounds {
		if c := b.Witness.Channel; stalls && b.Kind == limits.BySlots && c != nil && b.Witness.Slots > c.Slots {
			r.Slots = &Slots{Have: c.Slots, Enough: b.Witness.Slots, RoundTrip: c.RoundTrip, SlotBytes: c.SlotBytes}
		}
	}
}
