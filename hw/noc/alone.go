package noc

import (
	"kernbench/machine"
	"kernbench/unit"
)

// This file is about ways that one route has for itself. Nobody can come between what is sent
// there, so that a message is known to start when it and the link are ready, in the order in which
// messages were sent, and needs no event. Where routes share links, see follow.

// Use is a way that traffic takes, with what can be on it at the same time, and the largest
// transfer. Isolate says what becomes of it.
type Use struct {
	From, To       machine.NodeID
	Bytes, Largest int64
	Side           uint8 // 0 or 1: Through may be called at the same time on each side

	Route   Route   // for Send
	Private Private // for Through, where Alone: then there may be no Route
	Alone   bool
}

// Isolate says which ways all traffic takes until Mingle is called. Uses from one node stand side
// by side. Sends to links that one of them has for itself must come in the order of their times, and
// the sink may hear of arrivals before their time. It is for the fidelities Slot and Ideal, on a
// fabric at rest.
//
// What is sent because of something that happens on the fabric is sent a lead later, or more.
func (n *Fabric) Isolate(uses []Use, lead unit.Time) {
	n.kept, n.lead = len(n.hops), lead
	if n.ideal {
		n.isolateIdeal(uses)
		return
	}
	for i := range uses {
		uses[i].Route = n.AddRoute(uses[i].From, uses[i].To, false)
	}
	n.alone, n.freeAt = make([]bool, len(n.hops)), make([]unit.Time, len(n.hops))
	n.connect(uses)
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
		u.Alone = len(path) > 0
		for k, h := range path {
			alone := users[h.link] == 1
			n.alone[u.Route.first+uint32(k)] = alone
			u.Alone = u.Alone && alone
		}
		if u.Alone {
			w := &n.ways[u.Side]
			for _, h := range path {
				w = w.then(n.links[h.link].spec)
			}
			u.Private = Private{way: w, first: u.Route.first}
		}
	}
}

// isolateIdeal is Isolate where transfers do not meet, but for those of one source to one memory.
func (n *Fabric) isolateIdeal(uses []Use) {
	for i := 0; i < len(uses); {
		k := i + 1
		for k < len(uses) && uses[k].From == uses[i].From {
			k++
		}
		for same := uses[i:k]; i < k; i++ {
			u := &uses[i]
			u.Alone = true
			for o := range same {
				if &same[o] != u && same[o].To == u.To {
					u.Alone = false
				}
			}
			n.found = n.m.Route(n.found[:0], u.From, u.To)
			if u.Alone = u.Alone && len(n.found) > 0; !u.Alone {
				u.Route = n.AddRoute(u.From, u.To, false)
				continue
			}
			w := &n.ways[u.Side]
			for _, h := range n.found {
				w = w.then(n.links[h.Link].spec)
			}
			u.Private = Private{way: w}
		}
	}
}

// holds tells whether no input buffer of a path can be filled by so many bytes.
func (n *Fabric) holds(path []hop, bytes int64) bool {
	for _, h := range path {
		if int64(n.roomOf(&n.links[h.link])) < bytes {
			return false
		}
	}
	return true
}

// Mingle ends Isolate: the fabric is at rest again.
func (n *Fabric) Mingle() {
	n.hops = n.hops[:n.kept]
	n.alone, n.freeAt, n.edges, n.pending = nil, nil, nil, nil
}

// Private is a route that shares no link, ready for Through.
type Private struct {
	way   *way
	first uint32    // of its hops
	at    unit.Time // when its latest message started; at fidelity Ideal, when it arrives
	clear *passage  // of that message, which met no other; nil: Fabric.freeAt knows when links are free
}

// Through carries a transfer of one message over a route all of whose links are its own: its
// last byte leaves the source at departed and arrives at delivered.
func (n *Fabric) Through(p *Private, bytes int64, at unit.Time) (departed, delivered unit.Time) {
	t := p.way.latest
	if t == nil || t.bytes != bytes {
		t = p.way.passage(bytes)
	}
	switch {
	case n.ideal:
		p.at = max(p.at, at+t.alone)
		return at + t.departed, p.at
	case p.clear == t && at >= p.at+t.gap:
		p.at = at
		return at + t.departed, at + t.delivered
	}
	return n.squeeze(p, t, at)
}

// squeeze is Through where a message may have to wait for the one before.
func (n *Fabric) squeeze(p *Private, t *passage, at unit.Time) (departed, delivered unit.Time) {
	free := n.freeAt[p.first : p.first+uint32(len(p.way.links))]
	if p.clear != nil {
		for i, end := range p.clear.ends {
			free[i] = p.at + end
		}
		p.clear = nil
	}
	arrived, tail, waits := at, at, false
	for i, l := range p.way.links {
		start := max(arrived, free[i])
		waits = waits || start > arrived
		end := max(start+t.takes[i], tail)
		free[i] = end
		if i == 0 {
			departed = end
		}
		latency := l.Router + l.Wire
		arrived, tail = start+latency, end+latency
	}
	if !waits {
		p.at, p.clear = at, t
	}
	return departed, tail
}

// way is what routes have in common whose links are alike, one after the other.
type way struct {
	links    []*machine.LinkSpec
	latest   *passage
	passages map[int64]*passage // by bytes
	longer   []*way
}

// then is the way that goes on over one more link.
func (w *way) then(l *machine.LinkSpec) *way {
	for _, next := range w.longer {
		if next.links[len(w.links)] == l {
			return next
		}
	}
	next := &way{links: append(w.links[:len(w.links):len(w.links)], l), passages: map[int64]*passage{}}
	w.longer = append(w.longer, next)
	return next
}

// passage is how a message of one size passes a way on which it meets no other, in times from
// its start. A message of the same size that starts a gap later does not meet it either.
type passage struct {
	bytes               int64
	departed, delivered unit.Time
	alone               unit.Time // when it arrives at fidelity Ideal
	gap                 unit.Time
	takes, ends         []unit.Time // by link: how long it is taken, and until when
}

func (w *way) passage(bytes int64) *passage {
	t := w.passages[bytes]
	if t == nil {
		t = &passage{bytes: bytes}
		var start, tail, latency unit.Time
		for _, l := range w.links {
			takes := l.Serial.Time(max(1, bytes))
			end := max(start+takes, tail)
			t.takes, t.ends = append(t.takes, takes), append(t.ends, end)
			t.gap = max(t.gap, end-start)
			t.alone = max(t.alone, takes)
			start, tail = start+l.Router+l.Wire, end+l.Router+l.Wire
			latency += l.Router + l.Wire
		}
		t.departed, t.delivered, t.alone = t.ends[0], tail, t.alone+latency
		w.passages[bytes] = t
	}
	w.latest = t
	return t
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
