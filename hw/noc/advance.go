package noc

import (
	"kernbench/des"
	"kernbench/hw/noc/routes"
	"kernbench/unit"
)

// Invariant of this file: a message reaches a link by its only edge, which is one link or source.
// No message is before it that has not started there. Messages of one edge keep their order, so it
// starts before all others, and advances over the link without an event. At a link that several
// edges lead to, and where the invariant does not hold, the message takes an event. Its key is that
// of the event that would have brought it there. So messages of one instant keep their order.

// trigger is the event that would have brought a message to a link. It is one with a key, or one of
// a link, whose key is made when needed.
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

// advance moves a message over the next link of its route, which something brings it to. It
// continues over further links, up to the first at which another message may come before it. An
// event brings it there, unless it is there now and may arrive at once.
func (n *Fabric) advance(mi uint32, c trigger, atOnce bool) {
	m := &n.msgs[mi]
	for h := n.routes.Hop(m.route); ; atOnce = false {
		rest := n.routes.Onward(m.route)
		li := h.Number()
		var start, latency unit.Time
		if how := n.reached[li]; how >= contentionFree {
			start, latency = m.arrived, n.kinds[how-contentionFree].latency
			m.tail += latency
		} else {
			ok := false
			if how == byOneEdge {
				start, latency, ok = n.cross(mi, li, rest.Empty())
			}
			if !ok {
				n.approaches(li)
				if atOnce && m.arrived == n.q.Now() {
					n.arrive(li, mi) // ports and the links of a tile have no wires
					return
				}
				n.q.Post(des.Event{Time: m.arrived, Key: n.keyOf(c), Target: Target(kindArrive, li), Arg: mi})
				return
			}
			if m = &n.msgs[mi]; start > m.arrived {
				c = trigger{by: li + 1, phase: des.Retry}
			}
		}
		if rest.Empty() {
			n.deliver(mi)
			return
		}
		if h = n.goOn(m, li, rest, start+latency); m.arrived > start {
			c = trigger{by: li + 1, phase: des.Arrive}
		}
	}
}

// goOn lets a message that has passed a link continue on its route. Its head reaches the first link
// of the rest at a time. It returns the hop there.
func (n *Fabric) goOn(m *message, li uint32, rest Route, head unit.Time) routes.Hop {
	m.via, m.route = li+1, rest
	m.passed()
	h := n.routes.Hop(rest)
	m.vc, m.arrived = n.vcAt(h, m.class()), head
	if n.routes.Last(rest) {
		m.arrived = n.comesTo(h.Number(), m, head)
	}
	return h
}

// cross takes a message over a link that it reaches by its only edge, if it starts there before all
// others. It also needs buffer space after the link, unless that is its last one. It returns when
// it starts, and the latency of the link.
func (n *Fabric) cross(mi, li uint32, last bool) (start, latency unit.Time, ok bool) {
	m := &n.msgs[mi]
	l := &n.links[li]
	if l.own.Flags&soleRoute == 0 {
		if l.flying > 0 || n.off&Advance != 0 || m.hop == 0 && (!m.ordered || m.left > 0) {
			return 0, 0, false
		}
	}
	start = max(m.arrived, l.freeAt)
	in := nowhere
	if l.own.Flags&(soleRoute|ample) == 0 && !last {
		in = n.into(li, m.vc)
		if b := n.buffer(in); !b.Enter(&n.releases, n.spaceIn(b), m.bytes, start) {
			return 0, 0, false
		}
	}
	l.served = from(m)
	k := n.kind(l)
	end := max(start+k.serial.Time(int64(m.bytes)), m.tail)
	l.freeAt = end
	m.tail = end + k.latency
	if m.hop > 0 {
		n.release(m, end)
		m.in = in
	} else {
		m.in = in
		n.sink.Departed(m.user, end)
	}
	return start, k.latency, true
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
