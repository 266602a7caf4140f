package race

import (
	"kernbench/record/history"
	"kernbench/tl"
)

// This file lets notifications share an event, if an agent makes many in a row. They share a moment
// too: the agent's clock goes on only before its next operation of another kind (notified).
// Invariant: what is complete in that moment is complete for others from the next one on
// (agent.now). So who knows the moment by one of the notifications knows no more than by the first.

// mayShare reports whether an agent's notification may have a joint event. It must be the first
// change of its word, an addition or the flag of a packet, and not the only one in its row.
func (d *Detector) mayShare(a *agent, r *history.Record) bool {
	if !d.sharing(a) || a.row <= fewAccesses && !d.jointAll || d.isStream(a) {
		return false
	}
	if r.Update == tl.SignalSet && (r.Lines == tl.NoLine || d.facts.flags) {
		return false
	}
	return r.Value > 0 && r.Type.Wrap(r.Value) == r.Value && pe(r.Word) == r.Peer &&
		*d.words.at(r.Word) == untouched && !d.facts.of(r.Word)
}

// notifyJointly handles a notification that has a joint event. It returns false if it has none.
func (d *Detector) notifyJointly(r *history.Record) bool {
	a := &d.agents[r.Agent]
	if !d.mayShare(a, r) {
		return false
	}
	k, after := jointNotifications, uint32(0) // after: the put that it belongs to
	if r.Carry {
		if a.jointPut != r.Op {
			return false
		}
		k, after = jointSignals, a.jointPutSeq
	}
	m, l := a.momentOf(k), d.fencedLink(r.Agent, r.Peer)
	if e := m.e; e != nil && (m.time != a.clk.time || l.seq > e.seq || e.v != r.Value || e.typ != r.Type || e.x != uint8(r.Lines)) {
		d.endMoment(m)
	}
	if m.e == nil {
		e := d.newJoint(r)
		e.update, e.typ, e.v, e.rows, e.carries = true, r.Type, r.Value, 1, r.Carry
		e.set, e.x = r.Update == tl.SignalSet, uint8(r.Lines)
		e.clk = a.clk.hold()
		m.e, m.time = e, a.clk.time
		d.number(e, control)
		d.mores[e.more].after = after
		a.unfinished = append(a.unfinished, e)
	}
	a.notified = true
	l.seq = m.e.seq
	m.e.hold()
	*d.words.at(r.Word) = stateOf(oneUpdate, uint32(m.e.id))
	d.words.addSingle(r.Word)
	return true
}

// now returns the moment from which on others know what is complete.
func (a *agent) now() uint32 {
	if a.notified {
		return a.clk.time + 1
	}
	return a.clk.time
}

// ownUpdate returns the update of a word in an event of its own.
func (d *Detector) ownUpdate(e *event, w history.Word) *event {
	if !e.joint {
		return e
	}
	x := d.event(d.freeEvent())
	d.liveEvents++
	id := x.id
	*x = *e
	x.id, x.refs, x.joint, x.more, x.pending, x.addr = id, 1, false, 0, false, w
	x.clk = e.clk.hold()
	x.link = d.linkOf(e, pe(w))
	d.insert(x)
	if x.done == 0 {
		d.pend(x)
	}
	d.release(e)
	return x
}

// insert enters an event of an earlier number into its link.
func (d *Detector) insert(e *event) {
	live := &d.linkAt(e.link).live
	next, prev := eventID(0), live.tail
	for prev != 0 && d.event(prev).seq > e.seq {
		next, prev = prev, d.placeIn(prev).lprev
	}
	p := d.placeIn(e.id)
	p.lprev, p.lnext = prev, next
	if prev != 0 {
		d.placeIn(prev).lnext = e.id
	} else {
		live.head = e.id
	}
	if next != 0 {
		d.placeIn(next).lprev = e.id
	} else {
		live.tail = e.id
	}
}

// mayCarry reports whether a put may have a joint event, though a notification goes with it. The
// notification must have one too, and proves all that its agent has sent to the PE. So the put must
// be the first effect there after a fence.
func (d *Detector) mayCarry(r *history.Record) bool {
	l := d.fencedLink(r.Agent, r.Peer)
	return l.seq <= l.fenced && d.mayShare(&d.agents[r.Agent], r)
}

// proven returns the numbers up to which the first wait for a word finds its link empty. Later
// updates of the word prove less of the put than this one. So once there are others, no wait proves
// it.
func (d *Detector) proven(e *event) seqs {
	upTo := e.before
	if e.joint {
		upTo[collective] = max(upTo[collective], d.mores[e.more].after)
	}
	return upTo
}
