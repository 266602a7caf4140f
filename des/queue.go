package des

import (
	"math/bits"

	"kernbench/unit"
)

// The wheel has 4096 buckets of 2^shift ps. The width follows the events: narrow where
// they are dense, so that the heap of the current bucket stays small, wide where most
// would fall beyond the wheel.
const (
	buckets         = 4096
	firstShift uint = 9  // 512 ps: the wheel reaches 2.1 µs
	leastShift uint = 3  // 8 ps: 33 ns
	mostShift  uint = 20 // 1 µs: 4 ms
	review          = 2048
)

// Queue is a set of events and the clock of the one popped last. Events of the current
// bucket of time are in a small heap, those of the next 4095 buckets in unsorted lists,
// later ones in a large heap. Events are values: no pointer, no closure, and no
// allocation once the queue has grown.
type Queue struct {
	now    unit.Time
	popped int64
	count  int

	shift  uint
	near   heap  // events of bucket at and before
	at     int64 // current bucket
	far    heap  // events of buckets from at+buckets on
	lists  [buckets]uint32
	filled [buckets / 64]uint64 // which lists are not empty
	inList int
	nodes  []node
	free   uint32 // list of unused nodes; 0: none

	turns, taken, late int // since the last review: of the wheel, events it gave, events beyond it
}

// node is an event in a list.
type node struct {
	Event
	next uint32
}

// Now is the time of the event popped last.
func (q *Queue) Now() unit.Time { return q.now }

// Len is the number of events to come.
func (q *Queue) Len() int { return q.count }

// Popped counts the events that have happened.
func (q *Queue) Popped() int64 { return q.popped }

// Post adds an event. It panics when its time has passed: an effect before its cause.
func (q *Queue) Post(e Event) {
	if e.Time < q.now {
		panic("des: event posted into the past")
	}
	q.count++
	q.place(e)
}

func (q *Queue) place(e Event) {
	b := int64(e.Time) >> q.shift
	switch {
	case b <= q.at:
		q.near.push(e)
	case b < q.at+buckets:
		q.enlist(e, b)
	default:
		q.late++
		q.far.push(e)
	}
}

func (q *Queue) enlist(e Event, b int64) {
	i := q.free
	if i != 0 {
		q.free = q.nodes[i].next
	} else {
		if len(q.nodes) == 0 {
			q.nodes = append(q.nodes, node{}) // number 0 means none
		}
		q.nodes = append(q.nodes, node{})
		i = uint32(len(q.nodes) - 1)
	}
	k := b & (buckets - 1)
	q.nodes[i] = node{e, q.lists[k]}
	q.lists[k] = i
	q.filled[k/64] |= 1 << (k % 64)
	q.inList++
}

// Pop takes the next event and moves the clock to it; false when there is none.
func (q *Queue) Pop() (Event, bool) {
	if len(q.near) == 0 {
		if q.count == 0 {
			return Event{}, false
		}
		q.turn()
	}
	e := q.near.pop()
	q.now = e.Time
	q.popped++
	q.count--
	return e, true
}

// turn moves the wheel to the next bucket that has events.
func (q *Queue) turn() {
	if q.turns++; q.turns >= review || q.shift == 0 {
		q.adapt()
		if len(q.near) > 0 {
			return
		}
	}
	if q.inList == 0 {
		q.at = int64(q.far[0].Time) >> q.shift
	} else {
		q.at = q.nextFilled()
	}
	for len(q.far) > 0 {
		b := int64(q.far[0].Time) >> q.shift
		if b >= q.at+buckets {
			break
		}
		e := q.far.pop()
		if b <= q.at {
			q.near.push(e)
		} else {
			q.enlist(e, b)
		}
	}
	k := q.at & (buckets - 1)
	for i := q.lists[k]; i != 0; {
		n := &q.nodes[i]
		q.near.push(n.Event)
		next := n.next
		n.next, q.free = q.free, i
		i = next
		q.inList--
		q.taken++
	}
	q.lists[k] = 0
	q.filled[k/64] &^= 1 << (k % 64)
}

// adapt changes the width of buckets when the last turns were far from a handful of
// events each, and sorts what is to come into the new ones.
func (q *Queue) adapt() {
	shift := q.shift
	switch {
	case shift == 0:
		shift = firstShift
	case q.taken > 16*q.turns && shift > leastShift:
		shift = max(leastShift, shift-uint(bits.Len(uint(q.taken/q.turns/8))))
	case q.late > q.taken/4 && q.taken < 4*q.turns && shift < mostShift:
		shift++
	}
	q.turns, q.taken, q.late = 0, 0, 0
	if shift == q.shift {
		return
	}
	q.shift = shift
	all := append(heap(nil), q.far...)
	q.far = q.far[:0]
	for k := range q.lists {
		for i := q.lists[k]; i != 0; {
			n := &q.nodes[i]
			all = append(all, n.Event)
			next := n.next
			n.next, q.free = q.free, i
			i = next
		}
		q.lists[k] = 0
	}
	q.filled, q.inList = [buckets / 64]uint64{}, 0
	q.at = int64(q.now) >> shift
	for _, e := range all {
		q.place(e)
	}
	q.late = 0
}

// nextFilled is the first bucket after the current one whose list is not empty. Events
// in the far heap are later than any in a list.
func (q *Queue) nextFilled() int64 {
	from := (q.at + 1) & (buckets - 1)
	w := from / 64
	word := q.filled[w] >> (from % 64) << (from % 64)
	for word == 0 {
		w = (w + 1) % int64(len(q.filled))
		word = q.filled[w]
	}
	k := w*64 + int64(bits.TrailingZeros64(word))
	return q.at + 1 + (k-from)&(buckets-1)
}
