package des

import (
	"math"

	"kernbench/unit"
)

// Queue is a set of events and the clock of the one popped last. It relies on its owner to post
// nothing into the past. Events are kept unsorted in slots, each for a span of time: the later, the
// longer. They move to shorter slots as their time comes. All events of one window, 256 ps or one
// picosecond, are sorted together. Most events move once, those of dense times twice, between
// blocks that are read in sequence; there is no search. Events are values: no pointer, no closure,
// and no allocation once the queue has grown.
type Queue struct {
	now    unit.Time
	posted int64
	done   int64 // events that were popped, without those of the run

	run  []Event // of the current window, in order
	at   int     // in run: the next one
	near heap    // those of the window that were posted since
	end  uint64  // of the window
	audit

	slots
	sorter
	prefetch func([]Event, bool) // see Prefetch
}

// From returns an empty queue whose clock stands at a time.
func From(now unit.Time) *Queue {
	q := &Queue{now: now}
	q.edge = uint64(now)>>digitBits + 1
	return q
}

// Now returns the time of the event popped last.
func (q *Queue) Now() unit.Time { return q.now }

// Len returns the number of events in the queue.
func (q *Queue) Len() int { return int(q.posted - q.Popped()) }

// Popped returns the number of events that were popped.
func (q *Queue) Popped() int64 { return q.done + int64(q.at) }

// Post adds an event. It panics when its time has passed: an effect before its cause.
func (q *Queue) Post(e Event) {
	q.posted++
	w := uint64(e.Time) >> digitBits
	if w-q.edge >= digits {
		q.postElsewhere(e)
		return
	}
	// The same as put, without a pointer: most events take this branch and stay in registers.
	k := uint8(w)
	i := q.wheel.slots[k]
	if i%places == 0 {
		i = q.extend(&q.wheel, k)
	}
	q.wheel.slots[k] = i + 1
	to := &q.events[i]
	to.Time, to.Key, to.Target, to.Arg = e.Time, e.Key, e.Target, e.Arg
}

// postElsewhere adds an event of the window, or near it, or far from it.
func (q *Queue) postElsewhere(e Event) {
	switch {
	case e.Time < q.now:
		panic("des: event posted into the past")
	case uint64(e.Time) < q.end:
		q.near.push(e)
	default:
		q.put(&e)
	}
}

// Pop takes the next event and moves the clock to it; false when there is none.
func (q *Queue) Pop() (Event, bool) {
	if q.at >= len(q.run) {
		if len(q.near) > 0 {
			return q.popNear(), true
		}
		if !q.refill() {
			return Event{}, false
		}
	}
	e := &q.run[q.at]
	if len(q.near) > 0 && q.near[0].before(e) {
		return q.popNear(), true
	}
	q.now = e.Time
	if q.at++; q.at%often == 0 && (q.coming != 0 || q.prefetch != nil) {
		q.prefetchNext()
	}
	q.check(e)
	return Event{e.Time, e.Key, e.Target, e.Arg}, true
}

func (q *Queue) popNear() Event {
	e := q.near.pop()
	q.now = e.Time
	q.done++
	q.check(&e)
	return e
}

// Next returns the time of the next event; false when there is none.
func (q *Queue) Next() (unit.Time, bool) {
	if q.at >= len(q.run) {
		if len(q.near) > 0 {
			return q.near[0].Time, true
		}
		// refill moves the window. Events posted before its start then go to near, like those
		// posted within it.
		if !q.refill() {
			return 0, false
		}
	}
	t := q.run[q.at].Time
	if len(q.near) > 0 {
		t = min(t, q.near[0].Time)
	}
	return t, true
}

// refill moves the window to the next events and sorts them. It returns false if there are none.
func (q *Queue) refill() bool {
	q.done += int64(q.at)
	q.run, q.at = q.run[:0], 0
	if q.crowded {
		return q.refillInstant()
	}
	s := q.advance()
	if s == 0 {
		return false
	}
	switch n := q.count(s, few); {
	case n <= small:
		q.run = q.gather(q.run, s, n)
		insert(q.run)
	case n <= few:
		q.sortWindow(s, n)
	default:
		q.crowd(s)
		return q.refillInstant()
	}
	q.end = q.edge << digitBits
	if q.prefetch != nil {
		q.prefetch(q.run, true)
	}
	return true
}

// refillInstant moves the window to the next of instants. It returns true.
func (q *Queue) refillInstant() bool {
	k, _ := q.instants.first(0)
	q.end = (q.edge-1)<<digitBits + uint64(k) + 1
	s := q.instants.take(k)
	q.run = q.gather(q.run, s, q.count(s, math.MaxInt))
	q.sortInstant(q.run)
	q.foresee()
	if q.prefetch != nil {
		q.prefetch(q.run, true)
	}
	return true
}

// Prefetch sets a function that gets the next events of the current window, in order. It is called
// when a window begins and after every few events, so that the owner can load their data into the
// cache. Events that were posted since the window began are not among them.
func (q *Queue) Prefetch(look func(coming []Event, fresh bool)) { q.prefetch = look }

// often is the number of events between two such calls.
const often = 8

// prefetchNext prefetches the events that come next, and lets the owner prefetch its state for
// them.
func (q *Queue) prefetchNext() {
	if q.coming != 0 {
		q.coming = *q.link(q.coming)
		q.prefetchBlock(q.coming)
	}
	if q.prefetch != nil {
		q.prefetch(q.run[q.at:], false)
	}
}
