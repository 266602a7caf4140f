//go:build invariants

package des

import "fmt"

// audit holds what the queue remembers of the event popped last.
type audit struct {
	last   Event
	posted int64
	popped bool
}

// check panics if an event comes before one that it should follow. Time never goes back. Of events
// that were in the queue together, the one with the lower key comes first.
func (q *Queue) check(e *Event) {
	a := &q.audit
	if a.popped && (e.Time < a.last.Time || q.posted == a.posted && e.before(&a.last)) {
		panic(fmt.Sprintf("des: event %+v comes after %+v", *e, a.last))
	}
	a.last, a.posted, a.popped = *e, q.posted, true
}
