package sim

import (
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/history"
	"kernbench/record/trace"
	"kernbench/unit"
)

// order waits, before an operation on the memory of a peer, for those that it must not overtake.
// These are the ones before a fence and, by the machine's memory order, the ones on another path.
// Operations on one path arrive in their order.
func (r *rank) order(i int32, w pathID, put bool) {
	p := r.peers.at(i)
	wait := p.fenced != r.fences
	switch r.run.e.order {
	case mem.ByChannel:
		wait = wait || put && w != p.putPath
	case mem.InOrder:
		wait = wait || w != p.path
	}
	p.fenced, p.path = r.fences, w
	if put {
		p.putPath = w
	}
	if wait {
		r.awaitPeer(i)
	}
}

// awaitPeer waits until everything that was sent to a peer has been acknowledged.
func (r *rank) awaitPeer(i int32) {
	from := r.Clock
	own := r.peers.at(i).pe == r.seat
	for r.peers.at(i).out > 0 || own && r.writing() {
		r.parkOn(forPeer, i)
	}
	r.AdvanceTo(r.peers.at(i).acked)
	r.waitedFor(cause.Peer, int(r.peers.at(i).pe), r.ackOf(i))
	r.stallSpan(trace.Signal, from)
}

// writing reports whether a store to the HBM slice next to the core is in flight.
func (r *rank) writing() bool {
	for i := range r.accesses {
		if u := &r.accesses[i]; u.write && r.owns(u.lo) {
			return true
		}
	}
	return false
}

// acknowledge notes an effect at a peer. It returns when the rank knows of it and of all earlier
// ones: on arrival of an acknowledgement, which does not queue.
func (r *rank) acknowledge(i int32, now unit.Time) unit.Time {
	p := r.peers.at(i)
	p.out--
	ack := r.ack(i)
	p.acked = max(p.acked, now+ack)
	if r.causes != nil {
		r.acknowledged(i, ack)
	}
	return p.acked
}

// storeArrived notes that a store to a peer has taken effect.
func (r *rank) storeArrived(i int32, now unit.Time) {
	r.storesAckedAt = max(r.storesAckedAt, r.acknowledge(i, now))
	if r.causes != nil {
		r.run.later(&r.causes.stored, r.ackOf(i))
	}
}

// awaitSequential waits, on a machine with sequential order, until the latest message to a peer has
// been acknowledged.
func (r *rank) awaitSequential(i int32) {
	if r.run.e.order == mem.Sequential && r.peers.at(i).pe != r.seat {
		r.awaitPeer(i)
	}
}

// fence makes later messages to a destination wait for the earlier ones. A composite's output has
// no destination yet, so fence waits for it.
func (r *rank) fence() {
	from := r.Clock
	for r.composites > 0 {
		r.park(forPipes)
	}
	r.fences++
	r.book.Plain(history.Fence)
	r.stallSpan(trace.Signal, from)
}

// quiet waits until all that the rank has started is complete everywhere.
func (r *rank) quiet() {
	from := r.Clock
	for r.sidedInFlight > 0 || r.moving() {
		r.park(forQuiet)
	}
	r.AdvanceTo(max(r.opsAckedAt, r.storesAckedAt))
	r.waitedForOwn()
	r.book.Plain(history.Quiet)
	r.stallSpan(trace.Signal, from)
}

// drainEngines waits until the PE's engines are idle and its stores are complete.
func (r *rank) drainEngines() {
	from := r.Clock
	for r.moving() {
		r.park(forEngines)
	}
	r.AdvanceTo(max(r.storesAckedAt, r.computed))
	r.waitedForOwn()
	r.book.Plain(history.Drain)
	r.stallSpan(trace.Signal, from)
}

// moving reports whether loads, stores or composites are in flight.
func (r *rank) moving() bool { return len(r.accesses) > 0 || r.composites > 0 }

// progress resumes a kernel that waits for its own transfers. One of them is complete now: that
// number, or 0 if no wait is for it alone.
func (r *rank) progress(user uint32, now unit.Time) {
	over := false
	switch r.wait {
	case forGet, forReply:
		over = r.target == int32(user)
	case forPeer:
		over = r.peers.at(r.target).out == 0
	case forQuiet:
		over = r.sidedInFlight == 0 && !r.moving()
	case forEngines:
		over = !r.moving()
	case forPipes:
		over = r.composites == 0
	case forDrain:
		over = r.inFlight == 0
	}
	if over {
		r.AdvanceTo(now)
		r.run.resume(r)
	}
}
