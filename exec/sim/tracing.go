package sim

import (
	"cmp"
	"slices"

	"kernbench/record/trace"
	"kernbench/unit"
)

// emit keeps an event of this rank until the launch is over: kernels run ahead, so events
// come out of order.
func (r *rank) emit(e trace.Event) {
	e.PE, e.Rank = r.pe, r.index
	if r.task != nil {
		e.Core = trace.CommCore
	}
	r.run.traces.add(e, 0)
}

// traces are the events of a launch.
type traces struct {
	trace    []trace.Event
	foreseen []foreseen
}

// add keeps an event of a rank that has heard by now of what comes at a time.
func (t *traces) add(e trace.Event, seen unit.Time) {
	if calls := e.Kind == trace.Send || e.Kind == trace.Recv || e.Kind == trace.Wait; calls && seen > e.Start {
		t.foreseen = append(t.foreseen, foreseen{len(t.trace), seen})
	}
	t.trace = append(t.trace, e)
}

// foreseen is an event of the trace of which nobody could know before a time.
type foreseen struct {
	event int
	at    unit.Time
}

func (r *rank) emitSpan(k trace.Kind, start, end unit.Time, bytes int64) {
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: k, Peer: -1, Start: start, End: end, Bytes: bytes})
	}
}

// emit hands a launch's events to the consumer, in the order that trace.Sink names. After a
// fault, at a time, it leaves out what kernels did beyond it, running ahead.
func (t *traces) emit(to trace.Sink, fault bool, at unit.Time) {
	if to == nil {
		return
	}
	if fault {
		t.forget(at)
	}
	slices.SortFunc(t.trace, func(a, b trace.Event) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PE, b.PE), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Seq, b.Seq),
			cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.End, b.End), cmp.Compare(a.Bytes, b.Bytes),
			cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Stalled, b.Stalled), cmp.Compare(a.Core, b.Core))
	})
	for i := range t.trace {
		ev := &t.trace[i]
		if fault && (ev.Start > at || ev.End > at && knownAtEnd(ev.Kind)) {
			continue
		}
		to.Emit(ev)
	}
	t.trace = nil
}

// forget takes out what a fault has kept from being known: of that the long way says nothing either.
func (t *traces) forget(after unit.Time) {
	for _, f := range slices.Backward(t.foreseen) {
		if f.at > after {
			t.trace = slices.Delete(t.trace, f.event, f.event+1)
		}
	}
}

// knownAtEnd reports whether events of a kind are those of something that has come to its end.
func knownAtEnd(k trace.Kind) bool {
	return k == trace.Kernel || k == trace.Message || k == trace.Load || k == trace.Store
}
