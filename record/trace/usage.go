package trace

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"kernbench/unit"
)

// Usage is a consumer that adds up the busy time of the engines of PEs and the use of ring slots.
type Usage struct {
	pes    map[int32]*PEUsage
	queues map[int32]unit.Time // when the DMA of a PE becomes idle
	rings  map[ringKey]*ringUse
	open   map[uint32]*ringUse // by number of the ring, in the current launch
	due    due
	first  unit.Time
	last   unit.Time
}

// PEUsage is the busy time of the engines of a PE.
type PEUsage struct {
	PE   int32
	DMA  unit.Time // loads, stores, messages, puts and gets were in flight
	Math unit.Time
	GEMM unit.Time
	IPCQ unit.Time // sends and receives were carried out, without their waits
}

// RingUsage is the number of slots of a ring in use. A slot is in use from the start of a message
// until its credit is back.
type RingUsage struct {
	PE, Peer int32 // sender, receiver
	Dir      uint8 // of the sender
	Messages int64
	MaxSlots int     // slots at once
	Mean     float64 // slots, over the time of the run
}

type ringKey struct {
	pe, peer int32
	dir      uint8
}

type ringUse struct {
	RingUsage
	used  int
	since unit.Time
	area  float64 // slots × ps
}

// NewUsage makes the consumer.
func NewUsage() *Usage {
	return &Usage{
		pes: map[int32]*PEUsage{}, queues: map[int32]unit.Time{}, rings: map[ringKey]*ringUse{}, open: map[uint32]*ringUse{},
		first: unit.MaxTime,
	}
}

// Emit implements Sink.
func (u *Usage) Emit(e *Event) {
	u.advance(e.Start)
	u.first, u.last = min(u.first, e.Start), max(u.last, e.End)
	p := u.pes[e.PE]
	if p == nil {
		p = &PEUsage{PE: e.PE}
		u.pes[e.PE] = p
	}
	switch e.Kind {
	case Load, Store, Message, Put, Get, Copy:
		from := max(e.Start, u.queues[e.PE])
		if e.End > from {
			p.DMA += e.End - from
			u.queues[e.PE] = e.End
		}
	case Math:
		p.Math += e.End - e.Start
	case Gemm:
		p.GEMM += e.End - e.Start
	case Send, Recv:
		p.IPCQ += e.End - e.Start - e.Stalled
	}
	switch {
	case e.Ring == 0:
	case e.Kind == Message:
		k := ringKey{e.PE, e.Peer, e.Dir}
		r := u.rings[k]
		if r == nil {
			r = &ringUse{RingUsage: RingUsage{PE: e.PE, Peer: e.Peer, Dir: e.Dir}}
			u.rings[k] = r
		}
		u.open[e.Ring] = r
		r.Messages++
		r.change(e.Start, 1)
	case e.Kind == Credit && u.open[e.Ring] != nil:
		heap.Push(&u.due, deadline{at: e.End, ring: e.Ring})
	}
}

func (u *Usage) advance(to unit.Time) {
	for len(u.due) > 0 && u.due[0].at <= to {
		d := heap.Pop(&u.due).(deadline)
		u.open[d.ring].change(d.at, -1)
	}
}

func (r *ringUse) change(at unit.Time, by int) {
	r.area += float64(r.used) * float64(at-r.since)
	r.since = at
	r.used += by
	r.MaxSlots = max(r.MaxSlots, r.used)
}

// PEs returns the busy times of the PEs, in order.
func (u *Usage) PEs() []PEUsage {
	var all []PEUsage
	for _, pe := range slices.Sorted(maps.Keys(u.pes)) {
		all = append(all, *u.pes[pe])
	}
	return all
}

// Rings returns the use of the rings, those with most slots first.
func (u *Usage) Rings() []RingUsage {
	u.advance(unit.MaxTime)
	var all []RingUsage
	for _, r := range u.rings {
		if r.change(max(u.last, r.since), 0); u.last > u.first {
			r.Mean = r.area / float64(u.last-u.first)
		}
		all = append(all, r.RingUsage)
	}
	slices.SortFunc(all, func(a, b RingUsage) int {
		return cmp.Or(cmp.Compare(b.MaxSlots, a.MaxSlots), cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.PE, b.PE),
			cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Peer, b.Peer))
	})
	return all
}
