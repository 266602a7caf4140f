package sim

import (
	"cmp"
	"context"
	"slices"

	"kernbench/program"
	"kernbench/record/trace"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// tracing is what a run has for its trace. Kernels run ahead, so events come out of order: they are
// kept until none can come that began earlier.
type tracing struct {
	events []traced
	full   int    // number of events at which those that are complete are handed on
	shown  []bool // ranks that are traced; nil: as the scope says
}

// traced is an event, which may be for Options.Usage only.
type traced struct {
	trace.Event
	hidden bool
}

// discard is a consumer for runs of which only the use is wanted.
type discard struct{}

// Emit implements trace.Sink.
func (discard) Emit(*trace.Event) {}

// tracedAtOnce is the number of events that are kept before the first are handed on.
const tracedAtOnce = 1 << 18

// emit keeps an event of this rank, if the scope of the trace has it.
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
	if hidden && x.e.opts.Usage == nil {
		return
	}
	x.events = append(x.events, traced{e, hidden})
	if x.full == 0 {
		x.full = cmp.Or(x.e.traceAt, tracedAtOnce)
	}
	if len(x.events) >= x.full {
		x.handOn()
	}
}

// handOn gives the consumer what is complete: all events that began before any that can still come.
func (x *run) handOn() {
	bound := x.earliest()
	sortEvents(x.events)
	n, _ := slices.BinarySearchFunc(x.events, bound, func(e traced, t unit.Time) int { return cmp.Compare(e.Start, t) })
	x.e.emitAll(x.events[:n])
	x.events = x.events[:copy(x.events, x.events[n:])]
	x.full = max(x.full, 2*len(x.events))
}

// earliest is a time before which no event can begin that comes from here on, but for kernels.
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
	x.xfers.each(func(f *transfer) { t = min(t, f.at) })
	x.effects.each(func(f *effect) { t = min(t, f.start) })
	return t
}

// emitTrace hands on what is left at the end of a launch. After a fault, at a time, it leaves out
// what kernels did beyond it, running ahead.
func (x *run) emitTrace(fault bool, at unit.Time) {
	if fault {
		x.events = slices.DeleteFunc(x.events, func(e traced) bool { return e.Start > at || e.End > at && knownAtEnd(e.Kind) })
	}
	sortEvents(x.events)
	x.e.emitAll(x.events)
	x.events = nil
}

// emitAll hands events to those who want them.
func (e *Executor) emitAll(events []traced) {
	for i := range events {
		ev := &events[i]
		if !ev.hidden {
			e.opts.Trace.Emit(&ev.Event)
		}
		if e.opts.Usage != nil {
			e.opts.Usage.Emit(&ev.Event)
		}
	}
}

// emitReplayed hands on the events of a launch that was replayed.
func (e *Executor) emitReplayed(events []trace.Event) {
	if e.opts.Trace == nil {
		return
	}
	slices.SortFunc(events, func(a, b trace.Event) int { return compareEvents(&a, &b) })
	for i := range events {
		e.opts.Trace.Emit(&events[i])
	}
}

func sortEvents(events []traced) {
	slices.SortFunc(events, func(a, b traced) int { return compareEvents(&a.Event, &b.Event) })
}

// compareEvents compares events in the order that trace.Sink names.
func compareEvents(a, b *trace.Event) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PE, b.PE), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Seq, b.Seq),
		cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.End, b.End), cmp.Compare(a.Bytes, b.Bytes),
		cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Stalled, b.Stalled), cmp.Compare(a.Core, b.Core),
		cmp.Compare(a.Ring, b.Ring), cmp.Compare(a.Flow, b.Flow))
}

// knownAtEnd reports whether events of a kind are those of something that has come to its end.
func knownAtEnd(k trace.Kind) bool {
	return k == trace.Kernel || k == trace.Message || k == trace.Load || k == trace.Store
}

// showClasses finds one rank of each class, if only these are traced. A launch that cannot be
// recorded has no classes: some ranks are traced.
func (e *Executor) showClasses(ctx context.Context, l *launch.Launch) ([]bool, error) {
	if e.opts.Trace == nil || !e.opts.Scope.ByClass(l.World()) {
		return nil, nil
	}
	shown := make([]bool, l.World())
	r := replaying{e: e, l: l}
	o := r.options(nil)
	o.Parts = false
	p, err := program.RecordLaunch(ctx, l, o)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil { // if a kernel fails, the run will say how
		for i := range min(trace.Some, len(shown)) {
			shown[i] = true
		}
		return shown, nil
	}
	seen := map[int32]bool{}
	for _, b := range p.Blocks {
		if !seen[b.Record] {
			seen[b.Record], shown[b.Rank] = true, true
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
		r.emit(trace.Event{Kind: k, Peer: -1, Start: t.at, End: end, Bytes: t.bytes, Line: t.line})
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
func (r *rank) sidedSpan(k trace.Kind, f *effect, end unit.Time, bytes int64, line string) {
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: k, Peer: f.win.Team.PEs[f.member], Start: f.start, End: end, Bytes: bytes, Flow: f.flow, Line: line})
	}
}

// arriveSpan emits the arrival of a one-sided operation at its peer.
func (r *rank) arriveSpan(f *effect, now unit.Time, bytes int64) {
	if x := r.run; x.e.opts.Trace != nil {
		id := f.member + r.base
		if x.shown != nil && (int(id) >= len(x.shown) || x.ranks[id].pe != f.win.Team.PEs[f.member]) {
			id = -1 // a team of its own
		}
		x.keep(id, trace.Event{Kind: trace.Arrive, PE: f.win.Team.PEs[f.member], Rank: f.member, Peer: r.pe, Start: now, End: now, Bytes: bytes, Flow: f.flow})
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
