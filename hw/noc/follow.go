package noc

import (
	"kernbench/des"
	"kernbench/unit"
)

// This file follows messages over links that several routes pass, without an event for each link. A
// message goes on at once where nobody else can come before it: those that reach the link by the
// same edge, from the same link, keep their order; of those that reach it by others none is on its
// way; and what is sent from now on, a lead later, cannot be there yet. What comes out is the same
// to the picosecond, and so is the order in which messages come to links where it is not known:
// each comes with the key of the event that would have brought it.

// cause is the event that would have brought a message to a link: one that has a key, or one that a
// link causes, whose key is made when it is needed.
type cause struct {
	key   des.Key
	by    uint32 // 1 + the link
	phase des.Phase
}

func (n *Fabric) keyOf(c cause) des.Key {
	if c.by == 0 {
		return c.key
	}
	return n.key(c.by-1, c.phase)
}

// follow takes a message over the link ahead, which it goes on to by an edge, and further, to the first
// at which another may come before it.
func (n *Fabric) follow(mi, e uint32, c cause) {
	m := &n.msgs[mi]
	li := n.linkOf(n.hopOf(m))
	for {
		var latency unit.Time
		if kind := n.swift[li]; kind != 0 {
			latency = n.kinds[kind-1].latency
			m.arrived += latency
			m.tail += latency
			m.foreign = false // there is no room to give back
		} else {
			c, latency = n.over(mi, li, e, c)
			m = &n.msgs[mi]
		}
		if n.last(m) {
			n.deliver(mi)
			return
		}
		m.via = li + 1
		m.route = n.onward(m.route)
		m.passed()
		if latency > 0 {
			c = cause{by: li + 1, phase: des.Arrive}
		}
		h := n.hopOf(m)
		if n.leaves(m, h) {
			n.tell(mi, n.keyOf(c))
			return
		}
		li, e, m.lane = n.linkOf(h), edgeOf(h), n.laneAt(h, m.class())
		n.flies(li, e)
		if !n.goesOn(m, li, e) {
			n.q.Post(des.Event{Time: m.arrived, Key: n.keyOf(c), Target: Target(kindArrive, li), Arg: mi})
			return
		}
	}
}

// over takes a message over a link that it has come to by an edge. It tells because of what the message comes
// to the next, and how long that takes.
func (n *Fabric) over(mi, li, e uint32, c cause) (cause, unit.Time) {
	l, m := &n.links[li], &n.msgs[mi]
	l.served = from(m)
	n.reached(li, e)
	start := max(m.arrived, l.freeAt)
	if start > m.arrived {
		c = cause{by: li + 1, phase: des.Retry}
	}
	k := n.kind(l)
	end := max(start+k.serial.Time(int64(m.bytes)), m.tail)
	l.freeAt = end
	m.tail = end + k.latency
	if m.hop > 0 {
		n.release(m, end)
	} else {
		n.sink.Departed(m.user, end)
		m = &n.msgs[mi]
	}
	if m.in = nowhere; l.own.flags&(alone|roomy) == 0 && !n.last(m) {
		m.in = m.into
		n.buffer(m.into).held += m.bytes
	}
	m.arrived = start + k.latency
	return c, k.latency
}

// goesOn tells whether a message, on its way to a link by an edge, starts there before all others that
// are not there yet, and without waiting for room. If so it knows into which buffer it goes.
func (n *Fabric) goesOn(m *message, li, e uint32) bool {
	if n.swift[li] != 0 {
		return true
	}
	l := &n.links[li]
	if l.own.flags&alone != 0 {
		return true
	}
	if e == onlyEdge {
		if l.flying > 1 {
			return false // one is ahead of it
		}
	} else if x, j := n.edge(e), n.junction(e); x.flying > 1 || j.pending > x.pending ||
		m.arrived >= n.q.Now()+n.lead+j.otherwise(x) || l.own.flags&reached != 0 && m.arrived >= n.horizon {
		return false
	}
	switch {
	case m.hop == 0 && (!m.ordered || m.left > 0 || m.inLine || e != onlyEdge || n.queues[l.queue].lines > 0):
		return false
	case n.last(m):
		return true
	}
	m.into = n.into(li, m.lane)
	return l.own.flags&roomy != 0 || n.fits(m.into, m.bytes, m.arrived)
}
