package sim

import (
	"cmp"
	"slices"

	"kernbench/trace"
	"kernbench/unit"
)

// emit keeps an event of this rank until the launch is over: kernels run ahead, so events
// come out of order.
func (r *rank) emit(e trace.Event) {
	e.PE, e.Rank = r.pe, r.index
	if r.task != nil {
		e.Core = trace.CommCore
	}
	if calls := e.Kind == trace.Send || e.Kind == trace.Recv || e.Kind == trace.Wait; calls && r.foresaw > e.Start {
		r.run.foreseen = append(r.run.foreseen, foreseen{len(r.run.trace), r.foresaw})
	}
	r.run.trace = append(r.run.trace, e)
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

// emitTrace hands a launch's events to the consumer, in the order that trace.Sink names.
// After a fault it leaves out what kernels did beyond it, running ahead.
func (x *run) emitTrace() {
	if x.e.opts.Trace == nil {
		return
	}
	if x.fault != nil {
		x.forget()
	}
	slices.SortFunc(x.trace, func(a, b trace.Event) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PE, b.PE), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Seq, b.Seq),
			cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.End, b.End), cmp.Compare(a.Bytes, b.Bytes),
			cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Stalled, b.Stalled), cmp.Compare(a.Core, b.Core))
	})
	for i := range x.trace {
		ev := &x.trace[i]
		if x.fault != nil && (ev.Start > x.faultAt.time || ev.End > x.faultAt.time && knownAtEnd(ev.Kind)) {
			continue
		}
		x.e.opts.Trace.Emit(ev)
	}
	x.trace = nil
}

// forget takes out what a fault has kept from being known: of that the long way says nothing either.
func (x *run) forget() {
	for _, f := range slices.Backward(x.foreseen) {
		if f.at > x.faultAt.time {
			x.trace = slices.Delete(x.trace, f.event, f.event+1)
		}
	}
}

// knownAtEnd tells whether events of a kind are those of something that has come to its end.
func knownAtEnd(k trace.Kind) bool {
	return k == trace.Kernel || k == trace.Message || k == trace.Load || k == trace.Store
}
