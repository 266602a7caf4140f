package noc

import (
	"slices"

	"kernbench/machine"
	"kernbench/unit"
)

// This file reserves routes: while all traffic is known to take them, much of it needs no events.
// A route whose links no other one uses is exclusive (exclusive.go). On the others messages
// advance over links at which no other can come before them (advance.go).

// Use is a route that traffic takes. ReserveRoutes fills in how.
type Use struct {
	From, To machine.NodeID

	// Kind is the number of a kind of uses, from 0 on. Uses of one kind take links of the same
	// kinds, one after the other.
	Kind  uint32
	Bytes int64 // that can be on their way at the same time

	Reserved
	Exclusive bool // traffic takes it by PassExclusive; else by Send, on its Route
}

// Load is what ReserveRoutes must know of all uses.
type Load struct {
	Largest int64     // the largest transfer, in bytes
	Lead    unit.Time // the minimum delay between an event on the fabric and any send that it triggers
}

// Reserved is the state of a use. There may be millions: it holds no pointer.
type Reserved struct {
	at    unit.Time // start of the latest message; at fidelity Ideal, its arrival
	first uint32    // of its links in Fabric.freeAt. For Send: of its hops
	clear uint32    // passage of that message, which met no other; 0: Fabric.freeAt says when links are free. For Send: of the other hops
}

// Route is the route of a use for Send.
func (p *Reserved) Route() Route { return Route{p.first, p.clear} }

// ReserveRoutes says which routes all traffic takes until Release is called. Uses to one node stand
// side by side. Sends to links of one use only must come in the order of their times, and the sink
// may hear of arrivals before their time. The fabric must be at rest, at fidelity Slot or Ideal.
func (n *Fabric) ReserveRoutes(uses []Use, load Load) {
	n.kept, n.lead = len(n.hops), load.Lead
	if n.ideal {
		n.reserveIdeal(uses)
		return
	}
	n.reserved = true
	for i := range n.links {
		n.links[i].own.Flags &^= exclusive | ample
	}
	// Hops stand for links of the machine until it is known which of these need state.
	whole := make([]hop, 0, n.hopsOf(uses))
	users, several := make([]uint8, n.m.NumLinks()), 0 // links of several uses
	for i := range uses {
		u := &uses[i]
		n.found = n.m.Route(n.found[:0], u.From, u.To)
		u.Reserved = Reserved{first: uint32(len(whole)), clear: uint32(len(n.found))}
		for k, h := range n.found {
			whole = append(whole, makeHop(uint32(h.Link), n.channelOf(n.found, k)))
			if users[h.Link] < 2 {
				users[h.Link]++
				several += int(users[h.Link]) / 2
			}
		}
	}
	n.links = slices.Grow(n.links, several)
	own := 0
	for i := range uses {
		u := &uses[i]
		path := whole[u.first : u.first+u.clear]
		waits := load.Largest > n.most || !n.holds(path, u.Bytes)
		u.Exclusive = len(path) > 0 && !waits && n.off&Exclusive == 0
		for _, h := range path {
			u.Exclusive = u.Exclusive && users[n.linkOf(h)] == 1
		}
		if u.Exclusive {
			n.pathKind(u.Kind, path)
			u.Reserved = Reserved{first: uint32(own)}
			own += len(path)
			continue
		}
		for k, h := range path {
			li := n.link(machine.LinkID(n.linkOf(h)))
			if !waits && users[n.linkOf(h)] == 1 && n.off&Exclusive == 0 {
				n.links[li].own.Flags |= exclusive
			}
			path[k] = makeHop(li, n.vcAt(h, 0))
		}
	}
	if len(whole) < n.compressFrom {
		n.expand(uses, whole)
	} else {
		n.compress(uses, whole)
	}
	n.hops, n.links = slices.Clone(n.hops), slices.Clone(n.links) // without the room in which they grew
	n.freeAt = make([]unit.Time, own)
	n.index = nil // until there is another route
	n.connect(uses)
	n.findContentionFree(uses)
	if n.stateBytes() >= n.prefetchFrom {
		n.q.Prefetch(n.prefetch)
	}
}

// Release ends ReserveRoutes: the fabric is at rest again.
func (n *Fabric) Release() {
	n.hops, n.reserved = n.hops[:n.kept], false
	n.q.Prefetch(nil)
	n.freeAt, n.mergePoints, n.contentionFree, n.pathKinds = nil, nil, nil, nil
}

// hopsOf is how many hops uses have. It finds the route of one use of each kind.
func (n *Fabric) hopsOf(uses []Use) (all int) {
	var known []int // by kind: 1 + hops
	for i := range uses {
		u := &uses[i]
		for int(u.Kind) >= len(known) {
			known = append(known, 0)
		}
		if known[u.Kind] == 0 {
			n.found = n.m.Route(n.found[:0], u.From, u.To)
			known[u.Kind] = 1 + len(n.found)
		}
		all += known[u.Kind] - 1
	}
	return all
}

// reserveIdeal is ReserveRoutes at fidelity Ideal, where transfers do not meet, but for those of one
// source to one memory.
func (n *Fabric) reserveIdeal(uses []Use) {
	for i := 0; i < len(uses); {
		k := i + 1
		for k < len(uses) && uses[k].To == uses[i].To {
			k++
		}
		for same := uses[i:k]; i < k; i++ {
			u := &uses[i]
			u.Exclusive = n.off&Exclusive == 0
			for o := range same {
				if &same[o] != u && same[o].From == u.From {
					u.Exclusive = false
				}
			}
			if u.Exclusive && n.knows(u.Kind) {
				continue
			}
			n.found = n.m.Route(n.found[:0], u.From, u.To)
			if u.Exclusive = u.Exclusive && len(n.found) > 0; u.Exclusive {
				path := make([]hop, len(n.found))
				for k, h := range n.found {
					path[k] = makeHop(uint32(h.Link), 0)
				}
				n.pathKind(u.Kind, path)
				continue
			}
			r := n.AddRoute(u.From, u.To, false)
			u.Reserved = Reserved{first: r.at, clear: r.then}
		}
	}
}

// holds reports whether no input buffer of a path in the machine can be filled by so many bytes.
func (n *Fabric) holds(path []hop, bytes int64) bool {
	for _, h := range path {
		if int64(n.spaceOf(n.m.Spec(machine.LinkID(n.linkOf(h))))) < bytes {
			return false
		}
	}
	return true
}
