package sim

import (
	"context"
	"fmt"

	"kernbench/des"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// progress counts the kernels that have not ended, and holds the result of the launch.
type progress struct {
	all, left    int // kernels: in all, and those that have not ended
	loop         des.Loop
	ctx          context.Context
	instrumented bool // a trace, seed, history, cause log or yield observes each instruction: see issueInstrumented
	idle         bool // no event is left: payloads that no rank receives are given up
	hung         bool
	cancelled    bool // a kernel has seen that the launch was cancelled
	result       launch.Result
	fault        error // earliest in simulated time
	faultAt
}

// faultAt orders faults: a launch returns the first in simulated time, whatever the order in which
// kernels ran.
type faultAt struct {
	time unit.Time
	rank int32
}

// expect adds kernels that have to end.
func (p *progress) expect(kernels int) {
	p.all += kernels
	p.left += kernels
}

// cancel notes that a kernel has seen that the launch was cancelled. It makes the loop check the
// context before the next event.
func (p *progress) cancel() {
	p.cancelled = true
	p.loop.LookNext()
}

// drain ends a kernel: it releases its slots and waits for its own transfers.
func (r *rank) drain(*tl.Context, tl.Args) {
	for i := range r.rx {
		r.releaseSlot(i)
	}
	for r.inFlight > 0 || r.composites > 0 || r.unsent() > 0 && !r.run.idle {
		r.park(forDrain)
	}
	for r.sidedInFlight > 0 {
		r.park(forQuiet)
	}
	r.AdvanceTo(max(r.Last, r.opsAckedAt))
	end := r.Clock
	r.ended()
	r.run.result.End = max(r.run.result.End, end)
	if r.run.e.opts.Trace != nil {
		e := trace.Event{Kind: trace.Kernel, Peer: -1, Start: r.began, End: end}
		if r.task != nil {
			e.Flow = r.task.flow
		}
		r.emit(e)
	}
	if r.parent != nil {
		r.sync() // the next program of the stream begins at this end, and programs begin in order of time
	}
}

// endUnsent ends kernels whose payloads no rank will receive, once no other event is left. The
// fault is reported for the ranks that did not receive them.
func (x *run) endUnsent() bool {
	if x.idle {
		return false
	}
	x.idle = true
	for i := range x.ranks {
		if r := &x.ranks[i]; r.wait == forDrain {
			x.resume(r)
		}
	}
	return true
}

// simulate runs a launch until it is at rest.
func (x *run) simulate(ctx context.Context) error {
	x.result, x.ctx = launch.Result{Start: x.start, End: x.start}, ctx
	o := &x.e.opts
	x.instrumented = o.Trace != nil || o.Yield || o.Seed != 0 || x.history != nil || x.causes != nil || x.ring.OnRecv ||
		x.batch != nil && x.batch.Engine != nil
	q := &x.e.q
	before := q.Popped()
	x.accountBegin()
	look := x.e.look(ctx)
	x.loop = des.Loop{
		Handle: x.handle,
		Idle:   func() bool { return x.fault == nil && (x.pollAgain() || x.endUnsent()) },
		Look:   func() error { return look(x.all-x.left, x.all, q.Now()) },
	}
	for i := range x.ranks {
		if x.ranks[i].next == nil {
			continue // the place of a program: its stream starts it
		}
		if x.resume(&x.ranks[i]); x.cancelled {
			break
		}
	}
	if err := q.Run(&x.loop); err != nil {
		return err
	}
	x.result.Events, x.result.Mode = q.Popped()-before, x.mode
	x.countTraffic()
	if x.fault != nil {
		return x.fault
	}
	switch {
	case x.left > 0 && x.batch != nil:
		return x.stalled()
	case x.left > 0:
		return x.deadlock()
	case x.batch != nil:
		x.accountQueues()
	}
	return x.leftOver()
}

// handle acts on an event. It returns false for an event after a fault.
func (x *run) handle(ev des.Event) bool {
	if x.fault != nil && ev.Time > x.faultAt.time {
		return false
	}
	x.pruneCauses()
	switch kind := noc.Kind(ev); kind {
	case kindWake:
		x.woken(&x.ranks[noc.Index(ev)])
	case kindCredit:
		r := &x.ranks[noc.Index(ev)]
		x.takeCredit(r.tx[ev.Arg])
		x.credited(r, int(ev.Arg))
	case kindLate:
		x.takeDelayed(noc.Index(ev))
		x.deliveredSided(noc.Index(ev), ev.Time)
	case kindSeen:
		x.takeDelayed(noc.Index(ev))
		(*sink)(x.e).Delivered(noc.Index(ev), ev.Time)
	default:
		x.e.net.Handle(ev)
	}
	return true
}

// look returns a function that the loop calls at intervals. It reports progress, and returns an
// error if the run was cancelled.
func (e *Executor) look(ctx context.Context) func(done, ranks int, now unit.Time) error {
	looks := 0
	return func(done, ranks int, now unit.Time) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped at t=%v: %w", now, err)
		}
		if p := e.opts.Progress; p != nil && looks%16 == 0 {
			p(done, ranks, now)
		}
		looks++
		return nil
	}
}

// countTraffic adds up what each rank did.
func (x *run) countTraffic() {
	if x.batch != nil {
		x.result.Traffic = x.batch.Traffic(func(i int) tl.Traffic { return x.ranks[i].stream.traffic })
		return
	}
	x.result.Traffic = x.launch.Traffic(func(i int) tl.Traffic { return tl.DriverOf(x.ranks[i].ctx).Traffic() })
}

// leftOver returns a fault if a message was never received, and an internal error if a credit was
// not returned.
func (x *run) leftOver() error {
	for i := range x.ranks {
		r := &x.ranks[i]
		for p := range r.rx {
			if n := r.rx[p].Waiting(); n > 0 {
				from := &x.ranks[r.rx[p].from]
				e := &fault.Unreceived{
					Place: fault.Place{Rank: int(r.index), PE: x.e.m.PEName(int(r.pe)), Time: x.result.End, Timed: true},
					From:  int(from.index), Count: int(n),
				}
				return tl.Unreceived(e, r.ctx, p, from.ctx, int(r.rx[p].out))
			}
		}
	}
	for i := range x.rings {
		if q := &x.rings[i]; q.Sent != q.Credited {
			return fmt.Errorf("internal error: %d credits of rank %d, direction %v, not returned", q.Sent-q.Credited,
				x.ranks[q.from].index, x.dirOf(q))
		}
	}
	return nil
}

// stopAll ends the coroutines that are left and drops their values.
func (x *run) stopAll() {
	for i := range x.ranks {
		r := &x.ranks[i]
		if r.stop == nil {
			continue // not prepared
		}
		r.stop()
		if x.log != nil {
			tl.DriverOf(r.ctx).DropAll()
		}
	}
}
