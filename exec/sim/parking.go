package sim

import (
	"fmt"
	"iter"

	"kernbench/des"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/tl"
	"kernbench/unit"
)

// parking is the coroutine of a rank's kernel. While it is parked, wait is the event that it waits
// for.
type parking struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	stop  func()

	wait      waiting
	target    int32 // which port, cell, message, peer or queue it waits for
	since     unit.Time
	err       error
	done      bool
	dismissed bool        // to be ended without a result
	place     fault.Place // where it was when the launch hung
}

// waiting is the event that a parked kernel waits for.
type waiting uint8

const (
	nothing   waiting = iota
	forTime           // global time to reach its clock
	forToken          // a token at ring target
	forAny            // a token at any ring
	forCredit         // a free slot of ring target
	forStream         // the payload in ring target to be accepted whole
	forCell           // cell target to be complete
	forDMA            // space in a DMA queue
	forCopy           // a copy to memory to be complete
	forAccess         // earlier accesses to the same memory to be complete
	forOthers         // of a stream: its programs, its copy, its gang, an event
	forSource         // the source of put target to be read
	forWord           // words
	forChange         // any word to change: it has polled in vain

	// From here on what progress ends.
	forGet     // get target to be complete
	forReply   // the reply to atomic target
	forPeer    // what was sent to peer target to be acknowledged
	forPipes   // composites to be complete
	forEngines // loads, stores and composites to be complete
	forQuiet   // everything to be complete
	forDrain   // its transfers to be complete
)

// makeBody makes the coroutine of a kernel. Something must resume it.
func (r *rank) makeBody(k tl.Kernel, a tl.Args) { r.next, r.stop = iter.Pull(r.body(k, a)) }

// body returns a rank's coroutine.
func (r *rank) body(k tl.Kernel, a tl.Args) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		r.yield = yield
		abandoned, err := tl.DriverOf(r.ctx).Run(k, a)
		switch {
		case r.dismissed:
			return
		case abandoned:
			err = &fault.Misuse{Place: r.run.e.place(r, "abandon"), Reason: "it is for executors: a kernel ends by returning"}
		}
		if err == nil {
			_, err = tl.DriverOf(r.ctx).Run(r.drain, a)
		}
		if err != nil && r.task != nil {
			err = fmt.Errorf("%s: %w", r.task.name(), err)
		}
		r.err = err
		r.done = true
	}
}

// resume runs a kernel until it parks again or ends.
func (x *run) resume(r *rank) {
	r.wait = nothing
	tl.DriverOf(r.ctx).Enter()
	before := x.actor
	x.actor = r
	r.next()
	x.actor = before
	if !r.done {
		return
	}
	x.left--
	if r.err != nil && (x.fault == nil || r.Clock < x.faultAt.time || r.Clock == x.faultAt.time && r.id < x.faultAt.rank) {
		x.fault, x.faultAt = r.err, faultAt{r.Clock, r.id}
	}
	if r.err == nil {
		x.history.Joins(r.after, r.agent, r.Clock)
	}
	switch {
	case r.parent == nil || r.err != nil:
	case r.task != nil:
		r.taskEnded()
	default:
		r.programEnded()
	}
}

// park stops a kernel until it is resumed.
func (r *rank) park(w waiting) {
	r.wait, r.since = w, r.Clock
	if !r.yield(struct{}{}) {
		if r.run.hung {
			r.place = tl.DriverOf(r.ctx).Place("") // describe has the operation
			r.place.Time = r.since
			if w == forChange {
				r.place.Time = r.spin.began
			}
		}
		r.dismissed = true
		tl.DriverOf(r.ctx).Abandon()
	}
	if r.causes != nil {
		r.resumed(w)
	}
}

// parkOn parks a kernel that waits for one of several ports, cells, messages, peers or queues.
func (r *rank) parkOn(w waiting, target int32) {
	r.target = target
	r.park(w)
}

// sync waits until global time has reached the kernel's clock and all earlier events have happened.
func (r *rank) sync() {
	r.wake(r.Clock)
	r.park(forTime)
}

// woken resumes a kernel at its wake-up time. It recognises an outdated wake-up by what the kernel
// waits for now.
func (x *run) woken(r *rank) {
	now := x.e.q.Now()
	if r.causes != nil {
		x.setCurrent(r.causes.pending)
	}
	switch {
	case r.wait == forTime && r.Clock != now:
		return
	case r.wait == forWord && r.watch.posted && r.Clock == now:
	case r.wait != forTime && r.wait != forDMA && r.wait != forDrain && r.wait != forOthers:
		return
	}
	r.AdvanceTo(now)
	x.resume(r)
}

// resumeAt resumes a parked kernel at a time, or starts one that has not begun.
func (r *rank) resumeAt(at unit.Time) {
	r.wait = forTime
	r.wake(at)
}

// wake schedules the wake-up of a parked kernel, not before its own clock.
func (r *rank) wake(at unit.Time) {
	r.run.e.q.Post(des.Event{Time: max(at, r.Clock), Key: r.nextKey(des.Settle, seqWake), Target: noc.Target(kindWake, uint32(r.id))})
}
