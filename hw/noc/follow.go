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

// follow takes a message of one part over the links ahead, to the first at which another may come
// before it. The key is that of the event that would have brought it here.
func (n *Fabric) follow(mi uint32, key des.Key) {
	m := &n.msgs[mi]
	for {
		at := m.route.first + m.hop
		h := n.hops[at]
		l := &n.links[h.link]
		free := &l.freeAt
		if n.alone[at] {
			free = &n.freeAt[at]
		} else if !n.follows(m, h) {
			n.q.Post(des.Event{Time: m.arrived, Key: key, Target: Target(kindArrive, h.link), Arg: mi})
			return
		} else {
			l.served = n.from(m)
			n.reached(m)
		}
		start := max(m.arrived, *free)
		if start > m.arrived {
			key = n.key(l, h.link, des.Retry)
		}
		end := max(start+l.spec.Serial.Time(int64(m.bytes)), m.tail)
		*free = end
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
		if m.in = nowhere; !n.alone[at] {
			m.in = m.into
			n.bufs[m.into].held += m.bytes
		}
		m.via = h.link + 1
		m.hop++
		next := n.hops[m.route.first+m.hop]
		n.edges[next.edge].flying++
		m.into = next.buf + uint32(m.class)*n.inClass
		if m.arrived = start + l.latency; l.latency > 0 {
			key = n.key(l, h.link, des.Arrive)
		}
	}
}

// edge is how messages reach a link: from the link before, or from sources.
type edge struct {
	pending uint32 // messages that are on their way over it, or will be, where the link has others
	flying  uint32 // messages that are
}

// lonely are the links that have one edge: no other source is near. Of unknown ones it has yet to
// be found out.
const (
	lonely  = 1<<32 - 1
	unknown = lonely - 1
)

// aSource tells sources from links.
const aSource = 1 << 31

// connect finds the edges of all routes. Those of a link have numbers side by side.
func (n *Fabric) connect(uses []Use) {
	type known struct {
		from uint32    // link, or the source
		next uint32    // another one of the same link, or 0
		id   uint32    // number of the edge
		near unit.Time // from a source to the link, at least
	}
	found := make([]known, 1, 2*len(uses)+1)
	first := make([]uint32, len(n.links))
	for i := range uses {
		from, far := aSource|uint32(uses[i].From), unit.Time(0)
		path := n.path(uses[i].Route())
		for k := range path {
			h := &path[k]
			e := first[h.link]
			for e != 0 && found[e].from != from {
				e = found[e].next
			}
			if e == 0 {
				e = uint32(len(found))
				found = append(found, known{from: from, next: first[h.link], near: far})
				first[h.link] = e
			}
			found[e].near = min(found[e].near, far)
			h.edge, h.others = e, unknown
			from, far = h.link, far+n.links[h.link].latency
		}
	}
	id := uint32(0)
	for _, e := range first {
		for ; e != 0; e = found[e].next {
			found[e].id = id
			id++
		}
	}
	n.edges, n.pending = make([]edge, id), make([]uint32, len(n.links))
	for i := range uses {
		path := n.path(uses[i].Route())
		for k := range path {
			h := &path[k]
			if h.others != unknown {
				continue // of a route that has been seen to
			}
			h.others = lonely
			for e := first[h.link]; e != 0; e = found[e].next {
				if e != h.edge {
					h.others = min(h.others, uint32(min(found[e].near, unknown-1)))
				}
			}
			h.edge = found[h.edge].id
		}
	}
}

// expect notes that a message will pass a route, and is on its way to the first link.
func (n *Fabric) expect(r Route) {
	n.edges[n.hops[r.first].edge].flying++
	for _, h := range n.path(r) {
		if h.others != lonely {
			n.edges[h.edge].pending++
			n.pending[h.link]++
		}
	}
}

// reached notes that a message starts on a link.
func (n *Fabric) reached(m *message) {
	h := &n.hops[m.route.first+m.hop]
	e := &n.edges[h.edge]
	if h.others != lonely {
		e.pending--
		n.pending[h.link]--
	}
	e.flying--
}

// follows tells whether a message, on its way to a link, starts there before all others that are
// not there yet, and without waiting for room.
func (n *Fabric) follows(m *message, h hop) bool {
	if m.hop == 0 && (!m.ordered || m.left > 0 || m.inLine || h.others != lonely || n.links[h.link].lines > 0) {
		return false
	}
	e := &n.edges[h.edge]
	if e.flying > 1 {
		return false // one is ahead of it
	}
	if h.others != lonely && (n.pending[h.link] > e.pending || m.arrived >= n.q.Now()+n.lead+unit.Time(h.others)) {
		return false
	}
	return m.last() || n.fits(h.link, &n.bufs[m.into], m.bytes, m.arrived)
}
