package trace

import (
	"container/heap"
	"io"
	"strconv"

	"kernbench/tl"
	"kernbench/unit"
)

// CCL writes a line for each send and receive of a kernel. Lines have the order in which the calls
// returned, which is the order of cause and effect:
//
//	[ccl t=346.4 send] sip0.cube0.pe1 dir=E nbytes=64 seq=0
//
// t is in nanoseconds: a send's when its descriptor was queued, a receive's when the
// message was there. Without a clock there is none.
type CCL struct {
	out
	held  returned
	n     int
	timed bool
}

// NewCCL makes the view. Events that are not timed come in the order of the lines.
func NewCCL(w io.Writer, pe Names, timed bool) *CCL { return &CCL{out: newOut(w, pe), timed: timed} }

// Emit implements Sink. Events come by Start; a call is held back until no later event
// can end before it.
func (c *CCL) Emit(e *Event) {
	if e.Kind == Send || e.Kind == Recv {
		heap.Push(&c.held, call{*e, c.n})
		c.n++
	}
	c.release(e.Start)
}

// Close writes the lines still held.
func (c *CCL) Close() error {
	c.release(unit.MaxTime)
	return c.w.Flush()
}

func (c *CCL) release(until unit.Time) {
	for len(c.held) > 0 && c.held[0].End <= until {
		c.print(heap.Pop(&c.held).(call).Event)
	}
}

func (c *CCL) print(e Event) {
	b := append(c.line, "[ccl "...)
	if c.timed {
		b = append(appendDecimal(append(b, "t="...), e.End, unit.Nanosecond), ' ')
	}
	b = append(b, e.Kind.String()...)
	b = append(append(b, "] "...), c.name(e.PE)...)
	b = append(append(b, " dir="...), tl.Dir(e.Dir).String()...)
	b = strconv.AppendInt(append(b, " nbytes="...), e.Bytes, 10)
	b = strconv.AppendInt(append(b, " seq="...), e.Seq, 10)
	c.line = append(b, '\n')
	c.flushLine()
}

// call is an event with the number under which it came.
type call struct {
	Event
	n int
}

// returned is a heap of calls by the time of their return.
type returned []call

func (r returned) Len() int      { return len(r) }
func (r returned) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r returned) Less(i, j int) bool {
	if r[i].End != r[j].End {
		return r[i].End < r[j].End
	}
	return r[i].n < r[j].n
}
func (r *returned) Push(x any) { *r = append(*r, x.(call)) }
func (r *returned) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}
