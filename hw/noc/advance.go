package noc

import (
	"kernbench/des"
	"kernbench/hw/noc/routes"
	"kernbench/unit"
)

// Invariant of this file: all messages reach a link by one edge, from one link or one source. All
// earlier messages have started on the link. Messages of one edge keep their order, so the next one
// starts before all later ones, and advances over the link without an event. At a link that several
// edges lead to, and where the invariant does not hold, the message takes an event. That event has
// the key of the one that would have brought the message there. So messages that come at one
// instant keep their order.

// trigger is the event that would have brought a message to a link. It has a key, or is an event of
// a link, whose key is made when needed.
type trigger struct {
	key   des.Key
	by    uint32 // 1 + the link whose event it is; 0: it has a key
	phase des.Phase
}

func (n *Fabric) keyOf(t trigger) des.Key {
	if t.by == 0 {
		return t.key
	}
	return n.key(t.by-1, t.phase)
}

// advance moves a message over the next link of its route, to which event t brings it. It continues
// over further links, up to the first at which another message may come before it. There the
// message takes an event, unless atOnce is set and it is at its next link now.
func (n *Fabric) advance(mi uint32, t trigger, atOnce bool) {
	m := &n.msgs[mi]
	for h := n.routes.Hop(m.route); ; atOnce = false {
		rest := n.routes.Onward(m.route)
		li := h.Number()
		var start, latency unit.Time
		if reached := n.reached[li]; reached >= contentionFree {
			start, latency = m.arrived, n.kinds[reached-contentionFree].latency
			m.tail += latency
		} else {
			ok := false
			if reached == byOneEdge {
				start, latency, ok = n.cross(mi, li, rest.Empty())
			}
			if !ok {
				n.approaches(li)
				if atOnce && m.arrived == n.q.Now() {
					n.arrive(li, mi) // links without latency, such as ports, are reached at once
					return
				}
				n.q.Post(des.Event{Time: m.arrived, Key: n.keyOf(t), Target: Target(kindArrive, li), Arg: mi})
				return
			}
			if m = &n.msgs[mi]; start > m.arrived {
				t = trigger{by: li + 1, phase: des.Retry}
			}
		}
		if rest.Empty() {
			n.deliver(mi)
			return
		}
		if h = n.nextHop(m, li, rest, start+latency); m.arrived > start {
			t = trigger{by: li + 1, phase: des.Arrive}
		}
	}
}

// nextHop lets a message that has passed a link continue on the rest of its route. It returns the
// next hop, which the head of the message reaches at time head.
func (n *Fabric) nextHop(m *message, li uint32, rest Route, head unit.Time) routes.Hop {
	m.via, m.route = li+1, rest
	m.passed()
	h := n.routes.Hop(rest)
	m.vc, m.arrived = n.vcAt(h, m.class()), head
	if n.routes.Last(rest) {
		m.arrived = n.readyAt(h.Number(), m, head)
	}
	return h
}

// cross takes a message over a link that has one edge, if the message starts there before all
// others. Unless the link is the last of its route, the message also needs buffer space behind it.
// cross returns the start of the message on the link, and the latency of the link.
func (n *Fabric) cross(mi, li uint32, last bool) (start, latency unit.Time, ok bool) {
	m := &n.msgs[mi]
	l := &n.links[li]
	if l.own.Flags&soleRoute == 0 {
		// An earlier message has not started, or a later one of this source may start before it.
		if l.flying > 0 || n.off&Advance != 0 || m.hop == 0 && (!m.ordered || m.left > 0) {
			return 0, 0, false
		}
	}
	start = max(m.arrived, l.freeAt)
	in := nowhere
	if l.own.Flags&(soleRoute|neverFull) == 0 && !last {
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
