package sim

import (
	"context"

	"kernbench/program"
	"kernbench/record/trace"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// tracing is the state of a run for its trace. Kernels run ahead, so events come out of order.
type tracing struct {
	sorter trace.Sorter
	shown  []bool // ranks that are traced; nil: as the scope says
}

// traced is what a rank has for its trace.
type traced struct {
	began   unit.Time // its kernel
	issued  unit.Time // clock at which the instruction at hand was issued, in a run that is traced
	scratch int64     // in use
	flows   uint32    // that it has begun
}

func (e *Executor) tracing() tracing {
	return tracing{sorter: trace.Sorter{Shown: e.opts.Trace, Usage: e.opts.Usage, Kept: e.traceAt}}
}

// discard is a consumer for runs that need only the use of resources.
type discard struct{}

// Emit implements trace.Sink.
func (discard) Emit(*trace.Event) {}

// emit keeps an event of this rank if it is in the scope of the trace.
func (r *rank) emit(e trace.Event) {
	e.PE, e.Rank = r.pe, r.index
	if r.task != nil {
		e.Core = trace.CommCore
	}
	r.run.keep(r.id, e)
}

// keep keeps an event of a rank with a number in the run; -1: with none.
func (x *run) keep(id int32, e trace.Event) {
	scope := &x.e.opts.Scope
	hidden := x.shown != nil && (id < 0 || !x.shown[id]) || !scope.Has(int(e.Rank)) ||
		e.Kind != trace.Kernel && !scope.Overlaps(e.Start, e.End)
	if x.sorter.Add(e, hidden) {
		x.sorter.HandOn(x.earliest())
	}
}

// earliest returns a time before which no later event can begin, except those of kernels.
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
	x.effects.Each(func(f *effect) { t = min(t, f.aside.start) })
	return t
}

// emitTrace hands on the remaining events at the end of a launch. After a fault it leaves out later
// events of kernels that ran ahead.
func (x *run) emitTrace(fault bool, at unit.Time) {
	x.sorter.End(func(e *trace.Event) bool { return fault && (e.Start > at || e.End > at && knownAtEnd(e.Kind)) })
}

// knownAtEnd reports whether events of a kind are emitted when their operation has ended.
func knownAtEnd(k trace.Kind) bool {
	return k == trace.Kernel || k == trace.Message || k == trace.Load || k == trace.Store
}

// showClasses finds one rank of each class, if only these are traced. A launch that cannot be
// recorded has no classes: some ranks are traced.
func (e *Executor) showClasses(ctx context.Context, l *launch.Launch) ([]bool, error) {
	if e.opts.Trace == nil || !e.opts.Scope.ByClass(l.World()) {
		return nil, nil
	}
	shown := make([]bool, l.NumBlocks())
	o := e.recording()
	o.Parts = false
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

func (r *rank) emitSpan(k trace.Kind, start, end unit.Time, bytes int64) {
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: k, Peer: -1, Start: start, End: end, Bytes: bytes})
	}
}

// accessSpan emits the span of a load or store that is complete.
func (r *rank) accessSpan(k trace.Kind, t *transfer, end unit.Time) {
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: k, Peer: -1, Start: t.at, End: end, Bytes: t.bytes, Line: r.run.lines.text(t.line)})
	}
}

// flow is the number of the flow that begins; 0 if the run is not traced.
func (r *rank) flow() uint64 {
	if r.run.e.opts.Trace == nil {
		return 0
	}
	r.flows++
	return uint64(r.id+1)<<32 | uint64(r.flows)
}

// sidedSpan emits the span of a one-sided operation, from its call.
func (r *rank) sidedSpan(k trace.Kind, f *effect, end unit.Time, bytes int64, line uint32) {
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: k, Peer: f.win.Team.PEs[f.member], Start: f.aside.start, End: end, Bytes: bytes,
			Flow: f.aside.flow, Line: r.run.lines.text(line)})
	}
}

// arriveSpan emits the arrival of a one-sided operation at its peer.
func (r *rank) arriveSpan(f *effect, now unit.Time, bytes int64) {
	if x := r.run; x.e.opts.Trace != nil {
		id := f.member + r.base
		if x.shown != nil && (int(id) >= len(x.shown) || x.ranks[id].pe != f.win.Team.PEs[f.member]) {
			id = -1 // a team of its own
		}
		x.keep(id, trace.Event{Kind: trace.Arrive, PE: f.win.Team.PEs[f.member], Rank: f.member, Peer: r.pe,
			Start: now, End: now, Bytes: bytes, Flow: f.aside.flow})
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
