package noc

import (
	"slices"

	"kernbench/hw/noc/exclusive"
	"kernbench/hw/noc/routes"
	"kernbench/machine"
)

// This file reserves routes. While all traffic takes reserved routes, much of it needs no events. A
// route whose links no other one uses is exclusive (package exclusive). On the others messages
// advance over links at which no other message can come before them (advance.go).

// reservation is the state while routes are reserved.
type reservation struct {
	reserved  bool
	kept      int     // stored hops that were there before, and stay after Release
	reached   []uint8 // by link, how messages reach it: see bySeveral
	exclusive *exclusive.Routes
}

// Use is a route of traffic. ReserveRoutes decides how it is simulated.
type Use struct {
	From, To machine.NodeID

	// Kind is the number of a kind of uses, from 0 on. The routes of one kind have links of equal
	// kinds in the same order.
	Kind      uint32
	Exclusive bool  // traffic takes it by Fabric.Exclusive; else by Send, on its Route
	Bytes     int64 // bytes that can be in flight at the same time

	Reserved
}

// Reserved is the state of a use. There may be millions: it holds no pointer.
type Reserved struct{ exclusive.State }

// Route returns the route of a use for Send. It is stored in the fields that hold the state of an
// exclusive route.
func (p *Reserved) Route() Route { return Route{At: p.First, Then: p.Clear} }

func reserved(r Route) Reserved { return Reserved{exclusive.State{First: r.At, Clear: r.Then}} }

// Exclusive returns the exclusive routes, until Release is called.
func (n *Fabric) Exclusive() *exclusive.Routes { return n.exclusive }

// ReserveRoutes declares the routes of all traffic until Release is called. Uses to the same node
// must be adjacent. Sends over a link that only one use passes must come in the order of their
// times. The sink may be notified of arrivals ahead of time. No transfer has more than largest
// bytes. The fabric must be at rest, at fidelity Slot or Ideal.
func (n *Fabric) ReserveRoutes(uses []Use, largest int64) {
	n.kept, n.exclusive = len(n.routes.Hops), exclusive.New(n.ideal)
	if n.ideal {
		n.reserveIdeal(uses)
		return
	}
	n.reserved = true
	for i := range n.links {
		n.links[i].own.Flags &^= soleRoute | neverFull
	}
	p := n.plan(uses)
	hops, whole := n.routes.Hops[n.kept:], []routes.Hop(nil)
	n.routes.Hops = n.routes.Hops[:n.kept]
	compress := p.hops >= n.compressFrom
	if compress { // whole keeps the hops of all routes until it is known which of them routes share
		whole, n.routes.Hops = hops[:0], slices.Clone(n.routes.Hops)
	}
	for i := range uses {
		u := &uses[i]
		path := hops[:u.Clear]
		hops = hops[u.Clear+1:]
		allFits := largest <= n.most && int64(p.space[u.Kind]) >= u.Bytes && n.off&Exclusive == 0
		u.Exclusive = len(path) > 0 && allFits
		for _, h := range path {
			u.Exclusive = u.Exclusive && p.users[h.Number()] == 1
		}
		if u.Exclusive {
			if !n.exclusive.Knows(u.Kind) {
				n.found = n.m.Route(n.found[:0], u.From, u.To)
				n.exclusive.Learn(u.Kind, n.specs(n.found))
			}
			u.State = n.exclusive.Add(u.Kind)
			continue
		}
		n.passes(p, u, path, allFits)
		if compress {
			u.Reserved = reserved(Route{At: uint32(len(whole)), Then: uint32(len(path))})
			whole = append(whole, path...)
			continue
		}
		u.Reserved = reserved(n.routes.Add(path)) // this overwrites hops that have been read
	}
	n.index = nil // made again if another route is added
	if compress {
		n.compress(uses, whole)
	}
	n.routes.Hops, n.links = trimmed(n.routes.Hops), trimmed(n.links)
	mergePoints := n.findReached(p)
	vcs := p.vcs + mergePoints/2 // messages come to wait at about half of these links
	n.vcs, n.vcBuffers = slices.Grow(n.vcs, vcs), slices.Grow(n.vcBuffers, vcs)
	n.findContentionFree(p)
	if n.stateBytes() >= n.prefetchFrom {
		n.q.Prefetch(n.prefetch)
	}
}

// plan is the result of ReserveRoutes for all uses.
type plan struct {
	users []uint8  // by link of the machine: uses that pass it; 2 stands for 2 or more
	hops  int      // of all uses
	space []int32  // by kind of uses: of the smallest input buffer; 0: unknown
	links []passed // by link
	vcs   int      // channels of all links, without the first of each
}

// passed is the state of a link that routes pass.
type passed struct {
	bytes    int64  // bytes that can be in flight over it
	from     uint32 // where messages come from: see from and severalEdges; 0: no message comes
	channels uint8  // a bit for each channel that a route uses
}

// plan counts the uses of links. It stores the path of each use after the stored routes, and the
// length of the path in Use.Clear. The hops of these paths are numbers of links in the machine.
func (n *Fabric) plan(uses []Use) *plan {
	p := &plan{users: make([]uint8, n.m.NumLinks())}
	n.routes.Hops = slices.Grow(n.routes.Hops, n.estimate(uses))
	shared := 0 // links that several uses pass
	for i := range uses {
		u := &uses[i]
		n.found = n.m.Route(n.found[:0], u.From, u.To)
		n.path = n.path[:0]
		for i, h := range n.found {
			if p.users[h.Link] < 2 {
				p.users[h.Link]++
				shared += int(p.users[h.Link]) / 2 // the second use
			}
			n.path = append(n.path, routes.MakeHop(uint32(h.Link), n.channelOf(n.found, i)))
		}
		n.routes.Hops = append(append(n.routes.Hops, n.path...), 0)
		p.hops += len(n.path)
		u.Clear = uint32(len(n.path))
		p.findBufferSpace(n, u.Kind)
	}
	links := len(n.links) + shared + shared/16
	n.links = slices.Grow(n.links, links-len(n.links))
	p.links = make([]passed, 0, links)
	return p
}

// estimate returns about how many hops the paths of uses have, with the one that ends each path.
func (n *Fabric) estimate(uses []Use) int {
	const every = 61 // a multiple of the uses of a rank would always look at the same neighbours
	hops, looked := 0, 0
	for i := 0; i < len(uses); i += every {
		n.found = n.m.Route(n.found[:0], uses[i].From, uses[i].To)
		hops += len(n.found) + 1
		looked++
	}
	if looked == 0 {
		return 0
	}
	most := hops * len(uses) / looked
	return most + most/32
}

// findBufferSpace finds the buffer space of a kind of uses. n.found is the path of one of them.
func (p *plan) findBufferSpace(n *Fabric, kind uint32) {
	for int(kind) >= len(p.space) {
		p.space = append(p.space, 0)
	}
	if p.space[kind] != 0 {
		return
	}
	p.space[kind] = most
	for _, h := range n.found {
		p.space[kind] = min(p.space[kind], n.spaceOf(n.m.Spec(h.Link)))
	}
}

// passes notes a use at each link of its path. It renumbers the hops of the path, from links of the
// machine to links of the fabric.
func (n *Fabric) passes(p *plan, u *Use, path []routes.Hop, allFits bool) {
	from := aSource | uint32(u.From)
	for i, h := range path {
		li, channel := n.link(machine.LinkID(h.Number())), h.Channel()
		if int(li) >= len(p.links) {
			p.links = append(p.links, make([]passed, int(li)+1-len(p.links))...)
		}
		l := &p.links[li]
		if c := l.channels; c&(1<<channel) == 0 {
			if l.channels |= 1 << channel; c != 0 {
				p.vcs++
			}
		}
		if allFits && p.users[h.Number()] == 1 {
			n.links[li].own.Flags |= soleRoute
		}
		l.bytes += u.Bytes
		l.note(from)
		path[i] = routes.MakeHop(li, channel)
		from = li + 1
	}
}

// trimmed returns a slice without its unused capacity, if that is large.
func trimmed[T any](s []T) []T {
	if cap(s)-len(s) > len(s)/16 {
		return slices.Clone(s)
	}
	return s
}

// compressHops is the least number of hops at which routes share them. Shared hops take less space
// in memory and caches, but each jump between shared parts takes time.
const compressHops = 1 << 22

// compress stores the routes of uses so that they share parts. whole has the hops of each route.
func (n *Fabric) compress(uses []Use, whole []routes.Hop) {
	n.routes.Compress(routes.Paths{
		Count: len(uses), Links: len(n.links),
		Source: func(i int) uint32 { return uint32(uses[i].From) },
		Path: func(i int) []routes.Hop {
			if u := &uses[i]; !u.Exclusive {
				return whole[u.First : u.First+u.Clear]
			}
			return nil
		},
		Put: func(i int, r Route) {
			if u := &uses[i]; !u.Exclusive {
				u.Reserved = reserved(r)
			}
		},
	})
}

// Release ends ReserveRoutes: the fabric is at rest again.
func (n *Fabric) Release() {
	n.routes.Hops, n.reserved = n.routes.Hops[:n.kept], false
	n.halves = routes.Halves{} // some may refer to hops that are gone
	n.q.Prefetch(nil)
	n.exclusive, n.reached = nil, nil
}

// reserveIdeal is ReserveRoutes at fidelity Ideal. There only transfers between one source and one
// memory wait for each other.
func (n *Fabric) reserveIdeal(uses []Use) {
	for i := 0; i < len(uses); {
		k := i + 1
		for k < len(uses) && uses[k].To == uses[i].To {
			k++
		}
		same := uses[i:k] // to one node
		for ; i < k; i++ {
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
				n.exclusive.Learn(u.Kind, n.specs(n.found))
				continue
			}
			u.Reserved = reserved(n.AddRoute(u.From, u.To, false))
		}
	}
}

// specs returns the specs of the links of a path in the machine.
func (n *Fabric) specs(path []machine.Hop) (specs []*machine.LinkSpec) {
	for _, h := range path {
		specs = append(specs, n.m.Spec(h.Link))
	}
	return specs
}
