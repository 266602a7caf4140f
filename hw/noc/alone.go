package noc

import (
	"kernbench/des"
	"kernbench/machine"
	"kernbench/unit"
)

// This file follows messages over links that only one route passes. Nobody can come between
// what is sent there, so that a message is known to start when it and the link are ready, in
// the order in which messages were sent, and needs no event. What comes out is the same to the
// picosecond, and so is the order in which messages come to links that several routes pass:
// each comes with the key of the event that would have brought it.

// Use is a route that traffic takes, with what can be on its way there at the same time, and
// the largest transfer.
type Use struct {
	Route          Route
	Bytes, Largest int64
}

// Isolate says which routes all traffic takes until Mingle is called. Sends to links that one of
// them has for itself must come in the order of their times, and the sink may hear of arrivals
// before their time. It is for the fidelities Slot and Ideal, on a fabric at rest.
func (n *Fabric) Isolate(uses []Use) {
	n.alone = make([]bool, len(n.hops))
	if old := n.freeAt; len(old) < len(n.hops) {
		n.freeAt = make([]unit.Time, len(n.hops))
		copy(n.freeAt, old)
	}
	if n.ideal {
		seen := make(map[uint32]int, len(uses))
		for i := range uses {
			seen[uses[i].Route.first]++
		}
		for i := range uses {
			if r := uses[i].Route; r.hops > 0 && seen[r.first] == 1 {
				n.alone[r.first] = true
			}
		}
		return
	}
	users := make([]uint16, len(n.links))
	for i := range uses {
		for _, h := range n.path(uses[i].Route) {
			if users[h.link] < 2 {
				users[h.link]++
			}
		}
	}
	for i := range uses {
		u := &uses[i]
		path := n.path(u.Route)
		if u.Largest > n.most || !n.holds(path, u.Bytes) {
			continue
		}
		for k, h := range path {
			n.alone[u.Route.first+uint32(k)] = users[h.link] == 1
		}
	}
}

// holds tells whether no input buffer of a path can be filled by so many bytes.
func (n *Fabric) holds(path []hop, bytes int64) bool {
	for _, h := range path {
		if int64(n.bufs[h.buf].room) < bytes {
			return false
		}
	}
	return true
}

// Mingle ends Isolate: the fabric is at rest again.
func (n *Fabric) Mingle() { n.alone = nil }

// isolated tells whether the link of a hop belongs to its route alone.
func (n *Fabric) isolated(hop uint32) bool {
	return !n.ideal && int(hop) < len(n.alone) && n.alone[hop]
}

// Through carries a transfer of one message over a route all of whose links are its own: its
// last byte leaves the source at departed and arrives at delivered. It is not ok where another
// route has one of the links too; then nothing has happened.
func (n *Fabric) Through(p *Private, bytes int64, at unit.Time) (departed, delivered unit.Time) {
	bytes = max(1, bytes)
	if n.ideal {
		delivered = max(at+p.slowest.Time(bytes)+p.latency, p.freeAt[0])
		p.freeAt[0] = delivered
		return at + p.links[0].Serial.Time(bytes), delivered
	}
	arrived, tail := at, at
	for i, l := range p.links {
		start := max(arrived, p.freeAt[i])
		end := max(start+l.Serial.Time(bytes), tail)
		p.freeAt[i] = end
		if i == 0 {
			departed = end
		}
		latency := l.Router + l.Wire
		arrived, tail = start+latency, end+latency
	}
	return departed, tail
}

// Private is a route that shares no link, ready for Through.
type Private struct {
	links   []*machine.LinkSpec
	freeAt  []unit.Time
	slowest unit.Serial
	latency unit.Time
}

// Private is the route as one for Through; nil where it shares a link.
func (n *Fabric) Private(r Route) *Private {
	if r.hops == 0 || n.alone == nil {
		return nil
	}
	for k := range r.hops {
		if !n.alone[r.first+k] && !(n.ideal && k > 0) {
			return nil
		}
	}
	p := &Private{freeAt: n.freeAt[r.first : r.first+r.hops]}
	slowest := unit.Rate(0)
	for _, h := range n.path(r) {
		l := &n.links[h.link]
		p.links = append(p.links, l.spec)
		p.latency += l.latency
		if slowest == 0 || l.spec.Rate < slowest {
			slowest, p.slowest = l.spec.Rate, l.spec.Serial
		}
	}
	return p
}

// follow takes a message of one part over the links ahead that are its route's alone, and to
// the first that is not. The key is that of the event that would have brought it here.
func (n *Fabric) follow(mi uint32, key des.Key) {
	m := &n.msgs[mi]
	for {
		at := m.route.first + m.hop
		h := n.hops[at]
		if !n.alone[at] {
			n.q.Post(des.Event{Time: m.arrived, Key: key, Target: Target(kindArrive, h.link), Arg: mi})
			return
		}
		l := &n.links[h.link]
		start := max(m.arrived, n.freeAt[at])
		if start > m.arrived {
			key = n.key(l, h.link, des.Retry)
		}
		end := max(start+l.spec.Serial.Time(int64(m.bytes)), m.tail)
		n.freeAt[at] = end
		m.tail = end + l.latency
		if m.hop > 0 {
			n.release(m, end)
		} else {
			n.sink.Departed(m.user, end)
			m = &n.msgs[mi]
		}
		if m.last() {
			n.deliver(mi)
			return
		}
		m.in, m.via = nowhere, h.link+1
		m.hop++
		m.into = n.hops[m.route.first+m.hop].buf + uint32(m.class)*n.inClass
		if m.arrived = start + l.latency; l.latency > 0 {
			key = n.key(l, h.link, des.Arrive)
		}
	}
}

// deliver tells the sink of a message on its last link, ahead of time.
func (n *Fabric) deliver(mi uint32) {
	m := &n.msgs[mi]
	user, at, last := m.user, m.tail, m.left == 0
	n.freeMessage(mi)
	if last {
		n.sink.Delivered(user, at)
	}
}
