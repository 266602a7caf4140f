package noc

import (
	"kernbench/des"
	"kernbench/unit"
)

// Invariant of this file: a message starts at a link before all others that are not there yet.
// Those that reach the link by the same edge, that is, from the same link or source, keep their
// order. None is on its way by another edge. A message that is sent from now on is a lead away, and
// the distance of the nearest source that reaches the link by another edge. So the message advances
// over the link without an event. Where the invariant does not hold, the message takes an event,
// with the key of the event that would have brought it there: messages of one instant keep their
// order.

// trigger is the event that would have brought a message to a link: one with a key, or one of a
// link, whose key is made when it is needed.
type trigger struct {
	key   des.Key
	by    uint32 // 1 + the link
	phase des.Phase
}

func (n *Fabric) keyOf(c trigger) des.Key {
	if c.by == 0 {
		return c.key
	}
	return n.key(c.by-1, c.phase)
}

// advance moves a message over the next link, which it reaches by an edge, and over further links,
// up to the first at which another message may come before it.
func (n *Fabric) advance(mi, e uint32, c trigger) {
	m := &n.msgs[mi]
	li := n.linkOf(n.hopOf(m))
	for {
		var start, latency unit.Time
		if e == onlyEdge && n.contentionFree[li] != 0 {
			start, latency = m.arrived, n.kinds[n.contentionFree[li]-1].latency
			m.tail += latency
		} else {
			c, start, latency = n.cross(mi, li, e, c)
			m = &n.msgs[mi]
		}
		if n.last(m) {
			n.deliver(mi)
			return
		}
		m.via = li + 1
		m.route = n.routes.Onward(m.route)
		m.passed()
		h, before := n.hopOf(m), li
		li, e, m.vc = n.linkOf(h), edgeOf(h), n.vcAt(h, m.class())
		if m.arrived = n.comesTo(li, m, start+latency); m.arrived > start {
			c = trigger{by: before + 1, phase: des.Arrive}
		}
		n.approaches(li, e)
		if !n.mayAdvance(m, li, e) {
			n.q.Post(des.Event{Time: m.arrived, Key: n.keyOf(c), Target: Target(kindArrive, li), Arg: mi})
			return
		}
	}
}

// cross takes a message over a link. It returns what causes its start there, the time of that, and
// the latency of the link.
func (n *Fabric) cross(mi, li, e uint32, c trigger) (by trigger, start, latency unit.Time) {
	l, m := &n.links[li], &n.msgs[mi]
	l.served = from(m)
	n.started(li, e)
	start = max(m.arrived, l.freeAt)
	if start > m.arrived {
		c = trigger{by: li + 1, phase: des.Retry}
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
	if m.in = nowhere; l.own.Flags&(soleRoute|ample) == 0 && !n.last(m) {
		m.in = m.into
		n.buffer(m.into).Fill(&n.releases, m.bytes, start)
	}
	return c, start, k.latency
}

// mayAdvance reports whether a message that approaches a link by an edge starts there before all
// others that are not there yet, and finds buffer space behind it. If so it sets m.into. It reads
// the link only if the merge point before it does not decide.
func (n *Fabric) mayAdvance(m *message, li, e uint32) bool {
	if e == onlyEdge {
		if n.contentionFree[li] != 0 || n.links[li].own.Flags&soleRoute != 0 {
			return true
		}
		if n.links[li].flying > 1 {
			return false // one is ahead of it
		}
	} else if x, j := n.edge(e), n.mergePoint(e); x.flying > 1 || j.pending > x.pending ||
		m.arrived >= n.q.Now()+n.lead+j.otherwise(x) {
		return false
	}
	l := &n.links[li]
	switch {
	case n.off&Advance != 0:
		return false
	case m.hop == 0 && (!m.ordered || m.left > 0):
		return false
	case n.last(m):
		return true
	}
	m.into = n.into(li, m.vc)
	return l.own.Flags&ample != 0 || n.fits(m.into, m.bytes, max(m.arrived, l.freeAt))
}

// deliver notifies the sink of a message on its last link, ahead of time.
func (n *Fabric) deliver(mi uint32) {
	m := &n.msgs[mi]
	user, at, last := m.user, m.tail, m.left == 0
	n.freeMessage(mi)
	if last {
		n.sink.Delivered(user, at)
	}
}
