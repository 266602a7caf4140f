package des

import (
	"math/bits"

	"kernbench/unit"
)

// A time is a number of 8 digits in base 256. An event waits at the level of the highest
// digit in which its time differs from that of the current window, in the slot of that
// digit: a slot of level 0 is one picosecond, one of level 1 is 256, and so on.
const (
	digitBits = 8
	digits    = 1 << digitBits
	levels    = 64 / digitBits
	few       = 64 // events of a slot of level 1 that are put in order without going to level 0
)

// Queue is a set of events and the clock of the one popped last. It lives on what its
// owner promises, that nothing is posted into the past: events move from level to level,
// always downwards, until those of one window of time, a picosecond or 256, are put in
// order all at once. Where many are dense, an event moves about twice between blocks that
// are read in sequence; nothing is searched. Events are values: no pointer, no closure, and no
// allocation once the queue has grown.
type Queue struct {
	now    unit.Time
	popped int64
	count  int

	run  []Event // of the current window, in order
	at   int     // in run: the next one
	near heap    // those of the window that were posted since
	end  uint64  // of the window
	base uint64  // its beginning
	raw  []Event // that are to become a run

	some   uint8 // levels with events
	filled [levels][digits / 64]uint64
	slots  [levels][digits]slot
	blocks []block             // number 0 is none
	free   uint32              // list of unused blocks
	soon   func([]Event, bool) // see Soon
}

// slot is a list of events without order.
type slot struct {
	head   uint32 // block that is being filled; those behind it are full
	events uint32
}

const perBlock = 21

// block holds events of a slot. It fills eight cache lines.
type block struct {
	next   uint32
	events [perBlock]Event
}

// From is an empty queue whose clock has come to a time.
func From(now unit.Time) *Queue { return &Queue{now: now} }

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
	if uint64(e.Time) < q.end {
		q.near.push(e)
		return
	}
	q.place(&e)
}

// Pop takes the next event and moves the clock to it; false when there is none.
func (q *Queue) Pop() (Event, bool) {
	var e Event
	switch {
	case q.at < len(q.run):
		if len(q.near) > 0 && q.near[0].before(&q.run[q.at]) {
			e = q.near.pop()
			break
		}
		e = q.run[q.at]
		if q.at++; q.at%often == 0 && q.soon != nil {
			q.soon(q.run[q.at:], false)
		}
	case len(q.near) > 0:
		e = q.near.pop()
	case q.count == 0:
		return Event{}, false
	default:
		q.refill()
		e, q.at = q.run[0], 1
	}
	q.now = e.Time
	q.popped++
	q.count--
	return e, true
}

// Next is the time of the next event; false when there is none.
func (q *Queue) Next() (unit.Time, bool) {
	switch {
	case q.at < len(q.run):
		t := q.run[q.at].Time
		if len(q.near) > 0 {
			t = min(t, q.near[0].Time)
		}
		return t, true
	case len(q.near) > 0:
		return q.near[0].Time, true
	case q.count == 0:
		return 0, false
	}
	// What is posted before the window that this moves to goes to near, as what is posted into it.
	q.refill()
	q.at = 0
	return q.run[0].Time, true
}

// place puts an event beyond the current window into its slot.
func (q *Queue) place(e *Event) {
	level := uint(bits.Len64((uint64(e.Time)^q.base)|1)-1) / digitBits
	k := uint(e.Time>>(level*digitBits)) & (digits - 1)
	s := &q.slots[level][k]
	i := s.events % perBlock
	if i == 0 {
		b := q.newBlock()
		q.blocks[b].next, s.head = s.head, b
		q.filled[level][k/64] |= 1 << (k % 64)
		q.some |= 1 << level
	}
	q.blocks[s.head].events[i] = *e
	s.events++
}

func (q *Queue) newBlock() uint32 {
	if b := q.free; b != 0 {
		q.free = q.blocks[b].next
		return b
	}
	if len(q.blocks) == 0 {
		q.blocks = append(q.blocks, block{})
	}
	q.blocks = append(q.blocks, block{})
	return uint32(len(q.blocks) - 1)
}

// refill moves the window to the next events and puts them in order.
func (q *Queue) refill() {
	for {
		level := uint(bits.TrailingZeros8(q.some))
		k := q.first(level)
		s := q.slots[level][k]
		q.slots[level][k] = slot{}
		shift := level * digitBits
		q.base = q.base>>(shift+digitBits)<<(shift+digitBits) | uint64(k)<<shift
		if level == 0 || level == 1 && s.events <= few {
			q.end = q.base + 1<<shift
			if q.sort(s, level == 0); q.soon != nil {
				q.soon(q.run, true)
			}
			return
		}
		last := (s.events-1)%perBlock + 1
		for b := s.head; b != 0; last = perBlock {
			for i := range last {
				e := q.blocks[b].events[i] // blocks may move meanwhile
				q.place(&e)
			}
			b = q.drop(b)
		}
	}
}

// Soon lets the owner have a look at the events of the current window that are to come, in order, when a
// window begins and after every few of them: so that what they concern is at hand when they come.
// Events that were posted since are not among them.
func (q *Queue) Soon(look func(coming []Event, fresh bool)) { q.soon = look }

// often is after how many events the owner has another look.
const often = 8

// first is the earliest slot of a level that has events, which it has no longer.
func (q *Queue) first(level uint) uint {
	f := &q.filled[level]
	w := uint(0)
	for f[w] == 0 {
		w++
	}
	k := w*64 + uint(bits.TrailingZeros64(f[w]))
	f[w] &= f[w] - 1
	for ; f[w] == 0; w++ {
		if w == uint(len(f)-1) {
			q.some &^= 1 << level
			break
		}
	}
	return k
}

// drop frees a block and tells the next one of its slot.
func (q *Queue) drop(b uint32) (next uint32) {
	next = q.blocks[b].next
	q.blocks[b].next, q.free = q.free, b
	return next
}
