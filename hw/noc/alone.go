package noc

import (
	"kernbench/machine"
	"kernbench/pages"
	"kernbench/unit"
)

// This file is about ways that one route has for itself. Nobody can come between what is sent
// there, so that a message is known to start when it and the link are ready, in the order in which
// messages were sent, and needs no event. Where routes share links, see follow.

// Use is a way that traffic takes. Isolate says what becomes of it.
type Use struct {
	From, To machine.NodeID

	// Like is the number of its kind: uses of one kind are of one side, and take links of the same
	// kinds, one after the other.
	Like         uint32
	Bytes        int64 // that can be on its way at the same time
	Side, ToSide uint8 // 0 or 1, of both ends: Through may be called at the same time on each side; see Part

	Private
	Alone bool // it is for Through; else its Route is for Send
}

// Load is what Isolate is to know of all uses.
type Load struct {
	Largest int64     // transfer
	Lead    unit.Time // what is sent because of something that happens on the fabric is sent so much later, or more
}

// Isolate says which ways all traffic takes until Mingle is called. Uses to one node stand side
// by side. Sends to links that one of them has for itself must come in the order of their times, and
// the sink may hear of arrivals before their time. It is for the fidelities Slot and Ideal, on a
// fabric at rest.
func (n *Fabric) Isolate(uses []Use, load Load) {
	n.kept, n.lead = len(n.hops), load.Lead
	if n.ideal {
		n.isolateIdeal(uses)
		return
	}
	n.isolated = true
	for i := range n.links {
		n.links[i].own.flags &^= alone | border | reached | roomy
	}
	// Hops stand for links of the machine until it is known which of these there has to be state for.
	whole := make([]hop, 0, n.hopsOf(uses))
	users := make([]uint8, n.m.NumLinks())
	for i := range uses {
		u := &uses[i]
		n.found = n.m.Route(n.found[:0], u.From, u.To)
		u.Private = Private{first: uint32(len(whole)), clear: uint32(len(n.found))}
		for k, h := range n.found {
			whole = append(whole, makeHop(uint32(h.Link), n.channelOf(n.found, k)))
			if users[h.Link] < 2 {
				users[h.Link]++
			}
		}
	}
	private := 0
	for i := range uses {
		u := &uses[i]
		path := whole[u.first : u.first+u.clear]
		meets := load.Largest > n.most || !n.holds(path, u.Bytes)
		u.Alone = len(path) > 0 && !meets
		for _, h := range path {
			u.Alone = u.Alone && users[n.linkOf(h)] == 1
		}
		if !u.Alone {
			for k, h := range path {
				li := n.link(machine.LinkID(n.linkOf(h)))
				if !meets && users[n.linkOf(h)] == 1 {
					n.links[li].own.flags |= alone
				}
				path[k] = makeHop(li, n.laneAt(h, 0))
			}
			continue
		}
		if n.wayOf(u.Like) == nil {
			w := &n.ways[u.Side]
			for _, h := range path {
				w = w.then(n.m.Spec(machine.LinkID(n.linkOf(h))))
			}
			n.alike[u.Like] = w
		}
		u.Private = Private{first: uint32(private)}
		private += len(path)
	}
	if len(whole) < n.many {
		n.lay(uses, whole)
	} else {
		n.fold(uses, whole)
	}
	n.hops, n.links = large(n.hops), large(n.links) // without the room in which they grew
	n.freeAt = make([]unit.Time, private)
	n.index = nil // until there is another route
	n.connect(uses)
	n.findSwift(uses)
}

// hopsOf is how many hops uses have, without finding the way of each.
func (n *Fabric) hopsOf(uses []Use) (all int) {
	var alike []int // of a use of each kind
	for i := range uses {
		u := &uses[i]
		for int(u.Like) >= len(alike) {
			alike = append(alike, -1)
		}
		if alike[u.Like] < 0 {
			n.found = n.m.Route(n.found[:0], u.From, u.To)
			alike[u.Like] = len(n.found)
		}
		all += alike[u.Like]
	}
	return all
}

// pathOf is the stored route of a use; none where it is alone, which has a place in freeAt instead.
func (n *Fabric) pathOf(u *Use) []hop {
	if u.Alone {
		return nil
	}
	return n.path(u.Route())
}

// large is a copy in large pages.
func large[T any](s []T) []T { return append(pages.Large(make([]T, len(s)))[:0], s...) }

// isolateIdeal is Isolate where transfers do not meet, but for those of one source to one memory.
func (n *Fabric) isolateIdeal(uses []Use) {
	for i := 0; i < len(uses); {
		k := i + 1
		for k < len(uses) && uses[k].To == uses[i].To {
			k++
		}
		for same := uses[i:k]; i < k; i++ {
			u := &uses[i]
			u.Alone = true
			for o := range same {
				if &same[o] != u && same[o].From == u.From {
					u.Alone = false
				}
			}
			if u.Alone && n.wayOf(u.Like) != nil {
				continue
			}
			n.found = n.m.Route(n.found[:0], u.From, u.To)
			if u.Alone = u.Alone && len(n.found) > 0; !u.Alone {
				r := n.AddRoute(u.From, u.To, false)
				u.Private = Private{first: r.at, clear: r.then}
				continue
			}
			w := &n.ways[u.Side]
			for _, h := range n.found {
				w = w.then(n.m.Spec(h.Link))
			}
			n.alike[u.Like] = w
		}
	}
}

// wayOf is the way of a kind, or nil.
func (n *Fabric) wayOf(like uint32) *way {
	for int(like) >= len(n.alike) {
		n.alike = append(n.alike, nil)
	}
	return n.alike[like]
}

// Head is the latency of the links of a kind of uses that are Alone.
func (n *Fabric) Head(like uint32) (latency unit.Time) {
	for _, l := range n.alike[like].links {
		latency += l.Router + l.Wire
	}
	return latency
}

// holds tells whether no input buffer of a path in the machine can be filled by so many bytes.
func (n *Fabric) holds(path []hop, bytes int64) bool {
	for _, h := range path {
		if int64(n.roomOf(n.m.Spec(machine.LinkID(n.linkOf(h))))) < bytes {
			return false
		}
	}
	return true
}

// Mingle ends Isolate: the fabric is at rest again.
func (n *Fabric) Mingle() {
	n.hops, n.isolated = n.hops[:n.kept], false
	n.freeAt, n.junctions, n.swift, n.alike = nil, nil, nil, nil
}

// Private is what a use is on its way. There may be millions: it holds no pointer.
type Private struct {
	at    unit.Time // when its latest message started; at fidelity Ideal, when it arrives
	first uint32    // of its links in Fabric.freeAt. For Send: of its hops
	clear uint32    // passage of that message, which met no other; 0: Fabric.freeAt knows when links are free. For Send: of the other hops
}

// Route is the route of a use for Send.
func (p *Private) Route() Route { return Route{p.first, p.clear} }

// Through carries a transfer of one message over a way of a kind all of whose links are its own: its
// last byte leaves the source at departed and arrives at delivered.
func (n *Fabric) Through(p *Private, like uint32, bytes int64, at unit.Time) (departed, delivered unit.Time) {
	w := n.alike[like]
	k := w.latest
	if k == 0 || w.passages[k-1].bytes != bytes {
		k = w.passage(bytes)
	}
	t := &w.passages[k-1]
	switch {
	case n.ideal:
		p.at = max(p.at, at+t.alone)
		return at + t.departed, p.at
	case p.clear == k && at >= p.at+t.gap:
		p.at = at
		return at + t.departed, at + t.delivered
	}
	return n.squeeze(p, w, k, at)
}

// squeeze is Through where a message may have to wait for the one before.
func (n *Fabric) squeeze(p *Private, w *way, k uint32, at unit.Time) (departed, delivered unit.Time) {
	free := n.freeAt[p.first : p.first+uint32(len(w.links))]
	if p.clear != 0 {
		for i, end := range w.passages[p.clear-1].ends {
			free[i] = p.at + end
		}
		p.clear = 0
	}
	t := &w.passages[k-1]
	arrived, tail, waits := at, at, false
	for i, l := range w.links {
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
		p.at, p.clear = at, k
	}
	return departed, tail
}

// way is what routes have in common whose links are alike, one after the other.
type way struct {
	latest   uint32    // number of the passage that was asked for last
	passages []passage // numbered from 1 on
	bySize   map[int64]uint32
	links    []*machine.LinkSpec
	longer   []*way
}

// then is the way that goes on over one more link.
func (w *way) then(l *machine.LinkSpec) *way {
	for _, next := range w.longer {
		if next.links[len(w.links)] == l {
			return next
		}
	}
	next := &way{links: append(w.links[:len(w.links):len(w.links)], l), bySize: map[int64]uint32{}}
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

// passage is the number of that of messages of a size.
func (w *way) passage(bytes int64) uint32 {
	if k := w.bySize[bytes]; k != 0 {
		w.latest = k
		return k
	}
	t := passage{bytes: bytes}
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
	w.passages = append(w.passages, t)
	w.latest = uint32(len(w.passages))
	w.bySize[bytes] = w.latest
	return w.latest
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
