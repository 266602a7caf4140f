package explain

import (
	"context"
	"fmt"
	"slices"

	"kernbench/conf"
	"kernbench/dtype"
	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/record/cause"
	"kernbench/unit"
)

// Gap is the difference between the time of a collective and the lowest that the machine allows.
// The bound and the terms add up to the time. The bound has the time of the launch in it, as that
// of perf has.
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

// Slots is the number of slots that the rings need, if ranks wait for credits. In a round trip
// slots carry as many messages as there are slots; the path carries its rate times the round trip.
type Slots struct {
	Have      int       `json:"n_slots"`
	Enough    int       `json:"enough"`
	RoundTrip unit.Time `json:"round_trip_ps"` // of a message and its credit, at least
	SlotBytes int64     `json:"slot_bytes"`
	Message   int64     `json:"message_bytes"` // average bytes of a slot in use: at most slot_bytes
	Path      unit.Rate `json:"path_bytes_per_second"`
}

// Carry returns the bytes of a second that the slots of a ring carry.
func (s *Slots) Carry() unit.Rate {
	return unit.Rate(float64(s.Have) * float64(s.Message) * float64(unit.Second) / float64(s.RoundTrip))
}

// needed is the order in which the time of the bound is taken off the reasons: what any algorithm
// needs comes first.
var needed = []cause.Reason{
	cause.Launch, cause.Serialisation, cause.Queueing, cause.Memory, cause.Latency, cause.Router, cause.Arithmetic,
	cause.Credit, cause.Issue,
	cause.Protocol, cause.Wake, cause.Delay, cause.Imbalance, cause.Unknown,
}

// gap compares the time with the bound of the collective, if the report explains one whole
// collective.
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
	r.Slots = slotsFor(row, r.message, func(size int64) *limits.Row {
		base.Sets = append(slices.Clone(base.Sets),
			r.job.SetsFor("slot_size", size, func(e *conf.Algorithm) bool { return e.SlotSize != nil })...)
		l, err := limits.Run(ctx, limits.Spec{Base: base, Collective: res.Collective, Root: s.Root})
		if err != nil || len(l.Rows) != 1 {
			return nil
		}
		return &l.Rows[0]
	})
}

// slotsFor returns the number of slots that are enough for messages of a size. The size is 0 if no
// rank waits for a credit of a ring. Messages that do not fill their slots need more of them:
// resized returns the limits of rings whose slots are as large as a message.
func slotsFor(row *limits.Row, message int64, resized func(size int64) *limits.Row) *Slots {
	if message == 0 {
		return nil
	}
	have, size := 0, int64(0)
	for _, b := range row.Bounds {
		if c := b.Witness.Ring; b.Kind == limits.BySlots && c != nil {
			have, size = c.Slots, c.SlotBytes
		}
	}
	if message < size {
		if row = resized(message); row == nil {
			return nil
		}
	}
	for _, b := range row.Bounds {
		if c := b.Witness.Ring; b.Kind == limits.BySlots && c != nil && b.Witness.Slots > have {
			return &Slots{Have: have, Enough: b.Witness.Slots, RoundTrip: c.RoundTrip, SlotBytes: size, Message: c.SlotBytes, Path: c.Rate}
		}
	}
	return nil
}

// stalled returns the bytes of a message of the ring whose credits are waited for longest on the
// path, on average. It is 0 if no credit of a ring is waited for.
func (x *explaining) stalled(all []Blame) int64 {
	time := map[cause.Resource]unit.Time{}
	var longest cause.Resource
	for i := range all {
		b := &all[i]
		if b.key.why != cause.Credit || b.key.at.Kind() != cause.Ring {
			continue
		}
		if time[b.key.at] += b.Time; longest == 0 || time[b.key.at] > time[longest] {
			longest = b.key.at
		}
	}
	if longest == 0 {
		return 0
	}
	e := x.log.Ring(longest)
	return max(8, (e.Bytes+e.Messages-1)/max(1, e.Messages))
}
