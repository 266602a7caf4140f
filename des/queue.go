// Package des is the event kernel: a clock in picoseconds and a queue of events that
// happen in one total order. It knows no hardware word and runs no code of its own: its
// owner pops events and acts on them.
//
// Ties are broken by structure, never by who posted first: by phase, then by the
// component that caused the event, its lane (port), and that lane's own counter. So how
// far a program ran ahead, or how the queue is built, cannot be seen.
//
// It imports unit only. Start at Queue.
package des

import "kernbench/unit"

// Phase orders events of one instant before anything else does.
type Phase uint8

// Phases. What happens in the fabric comes first, decisions that need to know all of it
// come last.
const (
	Arrive Phase = iota // a message, a credit, a completion
	Retry               // a resource looks again for work
	Settle              // a program looks at what others have done up to now
)

// Key orders the events of one instant.
type Key uint64

// Bits of a Key.
const (
	counterBits   = 24
	laneBits      = 8
	componentBits = 28

	// MaxComponents is the number of components that keys can tell apart.
	MaxComponents = 1 << componentBits
)

// MakeKey packs a tie-break. The counter may wrap: only events of one instant compare it.
func MakeKey(p Phase, component uint32, lane uint8, counter uint32) Key {
	return Key(p)<<(componentBits+laneBits+counterBits) |
		Key(component)<<(laneBits+counterBits) | Key(lane)<<counterBits | Key(counter&(1<<counterBits-1))
}

// Event says that at Time something concerns Target. What, is between poster and owner.
type Event struct {
	Time   unit.Time
	Key    Key
	Target uint32
	Arg    uint32
}

func (e *Event) before(f *Event) bool {
	return e.Time < f.Time || e.Time == f.Time && e.Key < f.Key
}

// Queue is a set of events and the clock of the one popped last. It is a 4-ary heap of
// values: no pointer, no closure, and no allocation once it has grown.
type Queue struct {
	now    unit.Time
	heap   []Event
	popped int64
}

// Now is the time of the event popped last.
func (q *Queue) Now() unit.Time { return q.now }

// Len is the number of events to come.
func (q *Queue) Len() int { return len(q.heap) }

// Popped counts the events that have happened.
func (q *Queue) Popped() int64 { return q.popped }

// Advance moves the clock of an idle queue. It panics when an event lies before t: the
// past cannot be skipped.
func (q *Queue) Advance(t unit.Time) {
	if len(q.heap) > 0 && q.heap[0].Time < t {
		panic("des: Advance over an event")
	}
	q.now = max(q.now, t)
}

// Post adds an event. It panics when its time has passed: an effect before its cause.
func (q *Queue) Post(e Event) {
	if e.Time < q.now {
		panic("des: event posted into the past")
	}
	h := append(q.heap, e)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) >> 2
		if !e.before(&h[p]) {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = e
	q.heap = h
}

// Pop takes the next event and moves the clock to it; false when there is none.
func (q *Queue) Pop() (Event, bool) {
	h := q.heap
	n := len(h) - 1
	if n < 0 {
		return Event{}, false
	}
	top := h[0]
	last := h[n]
	h = h[:n]
	q.heap = h
	if n > 0 {
		i := 0
		for {
			c := i<<2 + 1
			if c >= n {
				break
			}
			least := c
			for k := c + 1; k < min(c+4, n); k++ {
				if h[k].before(&h[least]) {
					least = k
				}
			}
			if !h[least].before(&last) {
				break
			}
			h[i] = h[least]
			i = least
		}
		h[i] = last
	}
	q.now = top.Time
	q.popped++
	return top, true
}
