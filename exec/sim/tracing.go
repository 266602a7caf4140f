package sim

import (
	"context"

	"kernbench/program"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/frames"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// tracing collects the trace events of a run. Kernels run ahead, so events arrive out of order.
type tracing struct {
	sorter trace.Sorter
	shown  []bool // ranks that are traced; nil: chosen by the scope only
}

// traced is the trace state of a rank.
type traced struct {
	began   unit.Time // start of the kernel
	issued  unit.Time // clock at the issue of the current instruction
	scratch int64     // scratch bytes in use
	flows   uint32    // number of flows started
}

func (e *Executor) tracing() tracing {
	return tracing{sorter: trace.Sorter{Shown: e.opts.Trace, Usage: e.opts.Usage, Kept: e.traceAt}}
}

// discard is a consumer for runs that need only the use of resources.
type discard struct{}

// Emit implements trace.Sink.
func (discard) Emit(*trace.Event) {}

// emit records an event of this rank if it is in the scope of the trace.
func (r *rank) emit(e trace.Event) {
	e.PE, e.Rank = r.pe, r.index
	if r.task != nil {
		e.Core = trace.CommCore
	}
	r.run.record(r.id, e)
}

// record adds an event to the trace. id is the rank's index in x.ranks, or -1 if it has none.
func (x *run) record(id int32, e trace.Event) {
	scope := &x.e.opts.Scope
	hidden := x.shown != nil && (id < 0 || !x.shown[id]) || !scope.Has(int(e.Rank)) ||
		e.Kind != trace.Kernel && !scope.Overlaps(e.Start, e.End)
	if x.sorter.Add(e, hidden) {
		x.sorter.Flush(x.earliest())
	}
}

// earliest returns a lower bound of the start of all events still to come, those of kernels
// excepted.
func (x *run) earliest() unit.Time {
	t := x.e.q.Now()
	for i := range x.ranks {
		switch r := &x.ranks[i]; {
		case r.next == nil || r.done:
		case r.stream != nil:
			t = min(t, r.Clock)
		default:
			t = min(t, r.Clock, max(r.issued, r.began))
		}
	}
	x.xfers.Each(func(f *transfer) { t = min(t, f.at) })
	x.effects.Each(func(f *effect) { t = min(t, f.info.start) })
	x.notices.Each(func(n *notice) { t = min(t, n.info.start) })
	return t
}

// emitTrace emits the remaining events at the end of a launch. After a fault it drops the events of
// kernels that ran ahead of the fault.
func (x *run) emitTrace(fault bool, at unit.Time) {
	x.sorter.End(func(e *trace.Event) bool { return fault && (e.Start > at || e.End > at && emittedAtEnd(e.Kind)) })
}

// emittedAtEnd reports whether events of a kind are emitted when their operation has ended.
func emittedAtEnd(k trace.Kind) bool {
	return k == trace.Kernel || k == trace.Message || k == trace.Load || k == trace.Store
}

// classRanks returns the ranks to trace if the scope has one rank of each class, or else nil. A
// launch that cannot be recorded has no classes: its first trace.Some ranks are traced.
func (e *Executor) classRanks(ctx context.Context, l *launch.Launch) ([]bool, error) {
	if e.opts.Trace == nil || !e.opts.Scope.ByClass(l.World()) {
		return nil, nil
	}
	shown := make([]bool, l.NumBlocks())
	o := e.recording()
	o.Long = false
	p, err := program.RecordLaunch(ctx, l, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil { // if a kernel fails, the run reports the fault
		for i := range min(trace.Some, len(shown)) {
			shown[i] = true
		}
		return shown, nil
	}
	seen := map[int32]bool{}
	for i, b := range p.Blocks {
		if !seen[b.Record] {
			seen[b.Record], shown[i] = true, true
		}
	}
	return shown, nil
}

// emitSpan emits the span of arithmetic, or of a load or store that is complete.
func (r *rank) emitSpan(k trace.Kind, start, end unit.Time, bytes int64, line *frames.Call) {
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: k, Peer: -1, Start: start, End: end, Bytes: bytes, Line: line.Text()})
	}
}

// stallSpan emits the time that the kernel has waited, for a tensor or for an order.
func (r *rank) stallSpan(k trace.Kind, from unit.Time) {
	if r.Clock > from && r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: k, Peer: -1, Start: from, End: r.Clock, Stalled: r.Clock - from, Line: tl.DriverOf(r.ctx).Line()})
	}
}

// flow returns the number of a new flow, or 0 if the run is not traced.
func (r *rank) flow() uint64 {
	if r.run.e.opts.Trace == nil {
		return 0
	}
	r.flows++
	return uint64(r.id+1)<<32 | uint64(r.flows)
}

// oneSidedSpan emits the span of a one-sided operation, from its call.
func (r *rank) oneSidedSpan(k trace.Kind, f *wordUpdate, end unit.Time, bytes int64, line *frames.Call) {
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: k, Peer: f.win.Team.PEs[f.member], Start: f.info.start, End: end, Bytes: bytes,
			Flow: f.info.flow, Line: line.Text()})
	}
}

// arriveSpan emits the arrival of a one-sided operation at its peer.
func (r *rank) arriveSpan(f *wordUpdate, now unit.Time, bytes int64) {
	if x := r.run; x.e.opts.Trace != nil {
		id := f.member + r.base
		if x.shown != nil && (int(id) >= len(x.shown) || x.ranks[id].pe != f.win.Team.PEs[f.member]) {
			id = -1 // the PE is not among the ranks of this launch
		}
		x.record(id, trace.Event{Kind: trace.Arrive, PE: f.win.Team.PEs[f.member], Rank: f.member, Peer: r.pe,
			Start: now, End: now, Bytes: bytes, Flow: f.info.flow})
	}
}

// traceScratch emits how much scratch memory the kernel has in use, if that has changed.
func (r *rank) traceScratch() {
	if !r.run.e.opts.Scope.Counters {
		return
	}
	if n := r.ctx.ScratchUsed(); n != r.scratch {
		r.scratch = n
		r.emit(trace.Event{Kind: trace.Scratch, Peer: -1, Start: r.Clock, End: r.Clock, Bytes: n})
	}
}
