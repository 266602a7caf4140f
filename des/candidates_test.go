package des

import (
	"math/bits"
	"testing"

	"kernbench/unit"
)

// This file has the queues that were measured against Queue and are not used.

type queue interface {
	Post(Event)
	Pop() (Event, bool)
}

// oneHeap is a 4-ary heap.
type oneHeap struct{ heap }

func (q *oneHeap) Post(e Event) { q.push(e) }

func (q *oneHeap) Pop() (Event, bool) {
	if len(q.heap) == 0 {
		return Event{}, false
	}
	return q.pop(), true
}

// radixHeap is that of Ahuja, Mehlhorn, Orlin and Tarjan (1990). It has a bucket for each bit that
// may be the highest in which a time differs from the latest. Events of the same instant are in a
// heap.
type radixHeap struct {
	last    unit.Time
	now     heap
	buckets [64][]Event
	filled  uint64
}

func (q *radixHeap) Post(e Event) {
	d := uint64(e.Time ^ q.last)
	if d == 0 {
		q.now.push(e)
		return
	}
	k := bits.Len64(d) - 1
	q.buckets[k] = append(q.buckets[k], e)
	q.filled |= 1 << k
}

func (q *radixHeap) Pop() (Event, bool) {
	if len(q.now) == 0 {
		if q.filled == 0 {
			return Event{}, false
		}
		k := bits.TrailingZeros64(q.filled)
		b := q.buckets[k]
		q.last = b[0].Time
		for i := range b {
			q.last = min(q.last, b[i].Time)
		}
		q.buckets[k] = b[:0]
		q.filled &^= 1 << k
		for _, e := range b {
			q.Post(e)
		}
	}
	return q.now.pop(), true
}

// calendar is that of Brown (1988): a year of days, each a sorted list. It has half to twice as
// many days as events. The year is three times as long as the distance of the next events.
type calendar struct {
	nodes []entry
	free  uint32
	days  []uint32
	width unit.Time
	count int
	day   int
	end   unit.Time // of the day
	last  unit.Time
}

type entry struct {
	Event
	next uint32
}

func (q *calendar) Post(e Event) {
	if q.days == nil {
		q.days, q.width, q.end = make([]uint32, 2), 1000, 1000
		q.nodes = make([]entry, 1)
	}
	i := q.free
	if i != 0 {
		q.free = q.nodes[i].next
	} else {
		q.nodes = append(q.nodes, entry{})
		i = uint32(len(q.nodes) - 1)
	}
	q.nodes[i].Event = e
	q.insert(i)
	if q.count++; q.count > 2*len(q.days) {
		q.resize(2 * len(q.days))
	}
}

func (q *calendar) insert(i uint32) {
	n := &q.nodes[i]
	at := &q.days[int(n.Time/q.width)%len(q.days)]
	for *at != 0 && q.nodes[*at].before(&n.Event) {
		at = &q.nodes[*at].next
	}
	n.next, *at = *at, i
}

func (q *calendar) Pop() (Event, bool) {
	if q.count == 0 {
		return Event{}, false
	}
	i := q.take()
	e := q.nodes[i].Event
	q.nodes[i].next, q.free = q.free, i
	if q.count--; q.count < len(q.days)/2 && len(q.days) > 2 {
		q.resize(len(q.days) / 2)
	}
	return e, true
}

// take removes the next event from its day. Where a year has none, all days are looked at.
func (q *calendar) take() uint32 {
	for range q.days {
		if i := q.days[q.day]; i != 0 && q.nodes[i].Time < q.end {
			return q.tear(q.day)
		}
		q.day = (q.day + 1) % len(q.days)
		q.end += q.width
	}
	best := -1
	for d, i := range q.days {
		if i != 0 && (best < 0 || q.nodes[i].before(&q.nodes[q.days[best]].Event)) {
			best = d
		}
	}
	q.day, q.end = best, (q.nodes[q.days[best]].Time/q.width+1)*q.width
	return q.tear(best)
}

func (q *calendar) tear(day int) uint32 {
	i := q.days[day]
	q.days[day], q.last = q.nodes[i].next, q.nodes[i].Time
	return i
}

func (q *calendar) resize(days int) {
	now := q.last
	var all []uint32
	for range min(25, q.count) {
		all = append(all, q.take())
	}
	if n := len(all) - 1; n > 0 {
		q.width = max(1, 3*(q.nodes[all[n]].Time-q.nodes[all[0]].Time)/unit.Time(n))
	}
	for _, i := range q.days {
		for ; i != 0; i = q.nodes[i].next {
			all = append(all, i)
		}
	}
	q.days, q.last = make([]uint32, days), now
	q.day, q.end = int(now/q.width)%days, (now/q.width+1)*q.width
	for _, i := range all {
		q.insert(i)
	}
}

// TestCandidates: they are queues, so that what they take can be compared.
func TestCandidates(t *testing.T) {
	for name, q := range map[string]queue{"heap": &oneHeap{}, "radix": &radixHeap{}, "calendar": &calendar{}} {
		var ref Queue
		delay := delays("real")
		for i := range 300 {
			e := Event{Time: delay[i], Key: MakeKey(Arrive, uint32(i*7%300), 0, 0)}
			ref.Post(e)
			q.Post(e)
		}
		for i := range 20_000 {
			want, _ := ref.Pop()
			if got, ok := q.Pop(); !ok || got != want {
				t.Fatalf("%s: event %d is %+v, want %+v", name, i, got, want)
			}
			want.Time += delay[i%len(delay)]
			want.Key++
			ref.Post(want)
			q.Post(want)
		}
	}
}
