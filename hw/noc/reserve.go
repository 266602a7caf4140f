package noc

import (
	"slices"

	"kernbench/hw/noc/exclusive"
	"kernbench/hw/noc/routes"
	"kernbench/machine"
	"kernbench/unit"
)

// This file reserves routes. While all traffic takes reserved routes, much of it needs no events. A
// route whose links no other one uses is exclusive (package exclusive). On the others messages
// advance over links at which no other message can come before them (advance.go).

// reservation is what is known while routes are reserved.
type reservation struct {
	reserved       bool
	kept           int          // hops of routes that outlive it
	lead           unit.Time    // least delay from an event on the fabric to a send that it triggers
	mergePoints    []mergePoint // number 0 is none
	contentionFree []uint8      // by link: 1 + its kind where no message ever waits
	exclusive      *exclusive.Routes
}

// Use is a route of traffic. ReserveRoutes decides how it is simulated.
type Use struct {
	From, To machine.NodeID

	// Kind is the number of a kind of uses, from 0 on. Uses of one kind take links of the same
	// kinds, one after the other.
	Kind  uint32
	Bytes int64 // that can be on their way at the same time

	Reserved
	Exclusive bool // traffic takes it by Fabric.Exclusive; else by Send, on its Route
}

// Load is the input of ReserveRoutes about all uses.
type Load struct {
	Largest int64     // the largest transfer, in bytes
	Lead    unit.Time // the minimum delay between an event on the fabric and any send that it triggers
}

// Reserved is the state of a use. There may be millions: it holds no pointer.
type Reserved struct{ exclusive.State }

// Route is the route of a use for Send, which is kept in the same place as what an exclusive one
// has.
func (p *Reserved) Route() Route { return Route{At: p.First, Then: p.Clear} }

func reserved(r Route) Reserved { return Reserved{exclusive.State{First: r.At, Clear: r.Then}} }

// Exclusive returns the exclusive routes, until Release is called.
func (n *Fabric) Exclusive() *exclusive.Routes { return n.exclusive }

// ReserveRoutes declares the routes of all traffic until Release is called. Uses to one node are
// adjacent. Sends to links of one use only must be in the order of their times, and the sink may be
// notified of arrivals ahead of time. The fabric must be at rest, at fidelity Slot or Ideal.
func (n *Fabric) ReserveRoutes(uses []Use, load Load) {
	n.kept, n.lead, n.exclusive = len(n.routes.Hops), load.Lead, exclusive.New(n.ideal)
	if n.ideal {
		n.reserveIdeal(uses)
		return
	}
	n.reserved = true
	for i := range n.links {
		n.links[i].own.Flags &^= soleRoute | ample
	}
	// Hops hold links of the machine until it is known which of these need state.
	whole := make([]routes.Hop, 0, n.hopsOf(uses))
	users, several := make([]uint8, n.m.NumLinks()), 0 // links of several uses
	for i := range uses {
		u := &uses[i]
		n.found = n.m.Route(n.found[:0], u.From, u.To)
		// Until store knows where the route ends up, this is its part of whole.
		u.Reserved = reserved(Route{At: uint32(len(whole)), Then: uint32(len(n.found))})
		for k, h := range n.found {
			whole = append(whole, routes.MakeHop(uint32(h.Link), n.channelOf(n.found, k)))
			if users[h.Link] < 2 {
				users[h.Link]++
				several += int(users[h.Link]) / 2
			}
		}
	}
	n.links = slices.Grow(n.links, several)
	for i := range uses {
		u := &uses[i]
		path := whole[u.First : u.First+u.Clear]
		waits := load.Largest > n.most || !n.holds(path, u.Bytes)
		u.Exclusive = len(path) > 0 && !waits && n.off&Exclusive == 0
		for _, h := range path {
			u.Exclusive = u.Exclusive && users[n.linkOf(h)] == 1
		}
		if u.Exclusive {
			if !n.exclusive.Knows(u.Kind) {
				n.exclusive.Learn(u.Kind, n.specs(path))
			}
			u.State = n.exclusive.Add(u.Kind)
			continue
		}
		for k, h := range path {
			li := n.link(machine.LinkID(n.linkOf(h)))
			if !waits && users[n.linkOf(h)] == 1 && n.off&Exclusive == 0 {
				n.links[li].own.Flags |= soleRoute
			}
			path[k] = routes.MakeHop(li, n.vcAt(h, 0))
		}
	}
	n.store(uses, whole)
	n.routes.Hops, n.links = slices.Clone(n.routes.Hops), slices.Clone(n.links) // without the room in which they grew
	n.index = nil                                                               // until there is another route
	n.connect(uses)
	n.findContentionFree(uses)
	if n.stateBytes() >= n.prefetchFrom {
		n.q.Prefetch(n.prefetch)
	}
}

// compressHops is the number of hops from which on routes share them. Fewer hops fit in memory and
// caches, and a jump takes time.
const compressHops = 1 << 22

// store stores the routes of uses, which are parts of whole.
func (n *Fabric) store(uses []Use, whole []routes.Hop) {
	path := func(i int) []routes.Hop {
		if u := &uses[i]; !u.Exclusive {
			return whole[u.First : u.First+u.Clear]
		}
		return nil
	}
	put := func(i int, r Route) {
		if u := &uses[i]; !u.Exclusive {
			u.Reserved = reserved(r)
		}
	}
	if len(whole) >= n.compressFrom {
		source := func(i int) uint32 { return uint32(uses[i].From) }
		n.routes.Compress(routes.Paths{Count: len(uses), Links: len(n.links), Source: source, Path: path, Put: put})
		return
	}
	n.routes.Hops = slices.Grow(n.routes.Hops, len(whole)+len(uses))
	for i := range uses {
		put(i, n.routes.Add(path(i)))
	}
}

// Release ends ReserveRoutes: the fabric is at rest again.
func (n *Fabric) Release() {
	n.routes.Hops, n.reserved = n.routes.Hops[:n.kept], false
	n.halves = routes.Halves{} // some may lie beyond
	n.q.Prefetch(nil)
	n.exclusive, n.mergePoints, n.contentionFree = nil, nil, nil
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

// reserveIdeal is ReserveRoutes at fidelity Ideal, where transfers do not meet, but for those of
// one source to one memory.
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
			if u.Exclusive && n.exclusive.Knows(u.Kind) {
				continue
			}
			n.found = n.m.Route(n.found[:0], u.From, u.To)
			if u.Exclusive = u.Exclusive && len(n.found) > 0; u.Exclusive {
				path := make([]routes.Hop, len(n.found))
				for k, h := range n.found {
					path[k] = routes.MakeHop(uint32(h.Link), 0)
				}
				n.exclusive.Learn(u.Kind, n.specs(path))
				continue
			}
			u.Reserved = reserved(n.AddRoute(u.From, u.To, false))
		}
	}
}

// specs are those of the links of a path in the machine.
func (n *Fabric) specs(path []routes.Hop) (specs []*machine.LinkSpec) {
	for _, h := range path {
		specs = append(specs, n.m.Spec(machine.LinkID(n.linkOf(h))))
	}
	return specs
}

// holds reports whether no input buffer of a path in the machine can be filled by so many bytes.
func (n *Fabric) holds(path []routes.Hop, bytes int64) bool {
	for _, h := range path {
		if int64(n.spaceOf(n.m.Spec(machine.LinkID(n.linkOf(h))))) < bytes {
			return false
		}
	}
	return true
}
