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
	if !d.sharing(a) || a.row <= fewAccesses && !d.jointAll && !(a.longRow && r.Carry) || d.isStream(a) {
		return false
	}
	if r.Update == tl.SignalSet && (r.Lines == tl.NoLine || d.facts.flags) {
		return false
	}
	return r.Value > 0 && r.Type.Wrap(r.Value) == r.Value && pe(r.Word) == r.Peer &&
		*d.words.at(r.Word) == untouched && !d.facts.of(r.Word)
}

// endRow ends a row of notifications, and its moment. Rows of signals are often as long as the one
// before.
func (a *agent) endRow() {
	if a.signals > 0 {
		a.longRow = a.signals > fewAccesses
	}
	a.row, a.signals = 0, 0
	if a.notified {
		a.tick()
	}
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
		k, after = jointSignals, a.lastPut.seq
	}
	m, l := a.momentOf(k), d.fencedLink(r.Agent, r.Peer)
	if e := m.e; e != nil && (m.time != a.clk.time || l.seq > e.seq || e.v != r.Value || e.typ != r.Type || e.x != uint8(r.Lines)) {
		d.endMoment(m)
	}
	if m.e == nil {
		e := d.newJoint(r)
		e.update, e.typ, e.v, e.rows, e.carries = true, r.Type, r.Value, 1, r.Carry
		e.set, e.x = r.Update == tl.SignalSet, uint8(r.Lines)
		e.clk = d.holdClock(a.clk)
		m.e, m.time = e, a.clk.time
		d.number(e, control)
		e.op = uint64(after)
		a.unsent = append(a.unsent, e)
	}
	a.notified = true
	l.seq = m.e.seq
	m.e.hold()
	if r.Carry {
		*d.words.at(r.Word) = stateOf(oneDelivery, d.newDelivery(m.e, a.lastPut, &a.lastTo))
	} else {
		*d.words.at(r.Word) = stateOf(oneUpdate, uint32(m.e.id))
	}
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
	x.id, x.refs, x.joint, x.more, x.pending, x.addr, x.op = id, 1, false, 0, false, w, 0
	x.clk = d.holdClock(e.clk)
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
