package cause

import (
	"fmt"
	"math"
	"slices"

	"kernbench/unit"
)

// Span is a part of the time of a chain, with its reason and operation.
type Span struct {
	Start, End unit.Time
	Owner
	At  Resource
	Why Reason

	// Waits counts those of Chain.Waits that end at the end of the span or later.
	Waits int
}

// Waiting is an operation on a chain that waited for the operation before it in time.
type Waiting struct {
	Since, Until unit.Time
	Owner
	At  Resource
	Why Reason
	For Owner // what it waited for: the chain goes back to it
}

// Chain is the sequence of spans that decided the time of a point, the latest first.
type Chain struct {
	Spans []Span
	Waits []Waiting
}

// Walk returns the chain that leads to a point, back to its start. Its spans follow one another
// without a gap.
func (l *Log) Walk(p Point) *Chain { return l.WalkSince(p, math.MinInt64) }

// WalkSince is Walk back to a time only: no span of it begins earlier.
func (l *Log) WalkSince(p Point, since unit.Time) *Chain {
	c := &Chain{}
	now := l.Time(p)
	for p != 0 && now > since {
		v := l.point(p)
		if v.wait() || p&theWait != 0 {
			c.Waits = append(c.Waits, l.waiting(v, now))
			p = v.prev
			continue
		}
		if v.prev == 0 {
			break
		}
		start := l.Time(v.prev)
		if start < now {
			c.Spans = append(c.Spans, Span{Start: max(start, since), End: now, Owner: l.Owner(p), At: v.at, Why: v.why(),
				Waits: len(c.Waits)})
		}
		if now = start; v.waited > 0 {
			p |= theWait
		} else {
			p = v.prev
		}
	}
	return c
}

// waiting returns the wait that a point holds. until is the time at which the wait ended.
func (l *Log) waiting(v *point, until unit.Time) Waiting {
	at, why := v.waitsFor()
	w := Waiting{Since: v.time(), Until: until, Owner: Owner{v.site, v.step()}, At: at, Why: why, For: l.Owner(v.prev)}
	if !v.wait() {
		w.Since = until - unit.Time(v.waited)
	}
	return w
}

// Each visits all points in the order in which they were written. The log must have dropped none.
// For each span, Each calls spent. For each wait, it calls waited with the point at which the wait
// ended. A point may hold both: then waited comes first. The pointers are valid during the call.
func (l *Log) Each(spent func(s *Span), waited func(w *Waiting, until Point)) {
	for p := Point(1); uint32(p) < l.used; p++ {
		v := l.point(p)
		if v.prev == 0 {
			continue
		}
		from := l.Time(v.prev)
		if v.wait() || v.waited > 0 {
			w := l.waiting(v, from)
			waited(&w, v.prev)
		}
		if !v.wait() {
			spent(&Span{Start: from, End: v.time(), Owner: l.Owner(p), At: v.at, Why: v.why()})
		}
	}
}

// Forward returns the spans in the order of time.
func (c *Chain) Forward() []Span {
	s := slices.Clone(c.Spans)
	slices.Reverse(s)
	return s
}

// Check returns an error if the chain of a run, or of one of its ranks, does not account for all of
// its time. It finds gaps between spans, empty or negative spans, and spans without a reason.
func (l *Log) Check(r *Run) error {
	if r.Last == 0 && r.End > r.Start {
		return fmt.Errorf("no chain ends the run at %v", r.End)
	}
	for i, p := range append([]Point{r.Last}, r.Ends...) {
		if p == 0 {
			continue
		}
		end := l.Time(p)
		if i == 0 && end != r.End {
			return fmt.Errorf("the chain ends at %v, and the run at %v", end, r.End)
		}
		for _, s := range l.Walk(p).Spans {
			switch {
			case s.End != end || s.Start >= s.End:
				return fmt.Errorf("found a span from %v to %v, want one that ends at %v and is not empty", s.Start, s.End, end)
			case s.Why == Unknown:
				o := l.Operation(s.Site)
				return fmt.Errorf("%v from %v to %v of rank %d at %s %s have no reason", s.End-s.Start, s.Start,
					s.End, o.Rank, o.Call, o.Line)
			}
			end = s.Start
		}
		if end != r.Start {
			return fmt.Errorf("the chain begins at %v, and the run at %v", end, r.Start)
		}
	}
	return nil
}
