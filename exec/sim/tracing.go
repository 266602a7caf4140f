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
	r.run.trace = append(r.run.trace, e)
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
	slices.SortFunc(x.trace, func(a, b trace.Event) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PE, b.PE), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Seq, b.Seq),
			cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.End, b.End), cmp.Compare(a.Bytes, b.Bytes),
			cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Stalled, b.Stalled), cmp.Compare(a.Core, b.Core))
	})
	for i := range x.trace {
		ev := &x.trace[i]
		if x.fault != nil && (ev.Start > x.faultAt.time || ev.Kind == trace.Kernel && ev.End > x.faultAt.time) {
			continue
		}
		x.e.opts.Trace.Emit(ev)
	}
	x.trace = nil
}
