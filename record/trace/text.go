package trace

import (
	"fmt"
	"io"

	"kernbench/tl"
)

// Text writes one line per event, in the order of their start.
type Text struct{ out }

// NewText makes the view and writes its heading.
func NewText(w io.Writer, pe Names) *Text {
	t := &Text{newOut(w, pe)}
	fmt.Fprintf(t.w, "# %10s %12s  %-20s %5s  %-8s %s\n", "start", "end", "pe", "rank", "kind", "what")
	return t
}

// Emit implements Sink.
func (t *Text) Emit(e *Event) {
	b := fmt.Appendf(t.line, "%12v %12v  %-20s %5d  %-8v", e.Start, e.End, t.name(e.PE), e.Rank, e.Kind)
	if e.Core == CommCore {
		b = append(b, " of the communication engine"...)
	}
	if e.Dir != 0 {
		b = fmt.Appendf(b, " dir=%v", tl.Dir(e.Dir))
	}
	if e.Peer >= 0 {
		b = fmt.Appendf(b, " peer=%s", t.name(e.Peer))
	}
	if e.Bytes != 0 {
		b = fmt.Appendf(b, " nbytes=%d", e.Bytes)
	}
	switch e.Kind {
	case Send, Recv, Message, Credit:
		b = fmt.Appendf(b, " seq=%d", e.Seq)
	}
	if e.Stalled != 0 {
		b = fmt.Appendf(b, " stalled=%v", e.Stalled)
	}
	t.line = append(b, '\n')
	t.flushLine()
}

// Close implements Writer.
func (t *Text) Close() error { return t.w.Flush() }
