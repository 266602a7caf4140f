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

// reservation is what is known while routes are reserved.
type reservation struct {
	reserved  bool
	kept      int     // hops of routes that outlive it
	reached   []uint8 // by link, how messages reach it: see bySeveral
	exclusive *exclusive.Routes
}

// Use is a route of traffic. ReserveRoutes decides how it is simulated.
type Use struct {
	From, To machine.NodeID

	// Kind is the number of a kind of uses, from 0 on. Uses of one kind take links of the same
	// kinds, one after the other.
	Kind  uint32
	Bytes int64 // that can be in flight at the same time

	Reserved
	Exclusive bool // traffic takes it by Fabric.Exclusive; else by Send, on its Route
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
// adjacent. Sends to links of one use only must be in the order of their times. The sink may be
// notified of arrivals ahead of time. No transfer has more than largest bytes. The fabric must be
// at rest, at fidelity Slot or Ideal.
func (n *Fabric) ReserveRoutes(uses []Use, largest int64) {
	n.kept, n.exclusive = len(n.routes.Hops), exclusive.New(n.ideal)
	if n.ideal {
		n.reserveIdeal(uses)
		return
	}
	n.reserved = true
	for i := range n.links {
		n.links[i].own.Flags &^= soleRoute | ample
	}
	p := n.plan(uses)
	var whole []routes.Hop // if routes are to share hops: those of all, until it is known which
	compress := p.hops >= n.compressFrom
	if compress {
		whole = make([]routes.Hop, 0, p.hops)
	}
	for i := range uses {
		u := &uses[i]
		n.found = n.m.Route(n.found[:0], u.From, u.To)
		k := p.kind(n, u.Kind)
		left := p.hops + len(uses) - i
		p.hops -= len(n.found)
		waits := largest > n.most || int64(k.space) < u.Bytes
		u.Exclusive = len(n.found) > 0 && !waits && n.off&Exclusive == 0
		for _, h := range n.found {
			u.Exclusive = u.Exclusive && p.users[h.Link] == 1
		}
		if u.Exclusive {
			if !n.exclusive.Knows(u.Kind) {
				n.exclusive.Learn(u.Kind, n.specs(n.found))
			}
			u.State = n.exclusive.Add(u.Kind)
			continue
		}
		path := n.passes(p, u, k, !waits && n.off&Exclusive == 0)
		if compress {
			u.Reserved = reserved(Route{At: uint32(len(whole)), Then: uint32(len(path))})
			whole = append(whole, path...)
			continue
		}
		n.routes.Hops = slices.Grow(n.routes.Hops, left)
		u.Reserved = reserved(n.routes.Add(path))
	}
	n.index = nil // until there is another route
	if compress {
		n.compress(uses, whole)
	}
	n.routes.Hops, n.links = trimmed(n.routes.Hops), trimmed(n.links)
	n.vcs, n.vcBuffers = slices.Grow(n.vcs, p.vcs), slices.Grow(n.vcBuffers, p.vcs)
	n.findReached(p)
	n.findContentionFree(p)
	if n.stateBytes() >= n.prefetchFrom {
		n.q.Prefetch(n.prefetch)
	}
}

// plan is what ReserveRoutes finds out about all uses.
type plan struct {
	users []uint8 // of each link of the machine; 2: several
	hops  int     // of all uses whose routes have not been stored
	kinds []useKind
	bytes []int64  // by link: what can be in flight over it
	from  []uint32 // by link: where messages come from; see from and severalEdges; 0: none come

	channels []uint8 // by link: a bit for each that a route uses
	vcs      int     // of all links, but for the first of each
}

// useKind is what uses of a kind have in common.
type useKind struct {
	known   bool
	channel uint8 // of the last link: see channelOf
	space   int32 // of the smallest input buffer
}

// plan counts the uses of links, and the hops of all routes.
func (n *Fabric) plan(uses []Use) *plan {
	p := &plan{users: make([]uint8, n.m.NumLinks())}
	several := 0
	for i := range uses {
		n.found = n.m.Route(n.found[:0], uses[i].From, uses[i].To)
		p.hops += len(n.found)
		for _, h := range n.found {
			if p.users[h.Link] < 2 {
				p.users[h.Link]++
				several += int(p.users[h.Link]) / 2
			}
		}
	}
	links := len(n.links) + several + several/16
	n.links = slices.Grow(n.links, links-len(n.links))
	p.bytes, p.channels, p.from = make([]int64, 0, links), make([]uint8, 0, links), make([]uint32, 0, links)
	return p
}

// kind returns what uses of a kind have in common, given the route found last, which is of one.
func (p *plan) kind(n *Fabric, number uint32) *useKind {
	for int(number) >= len(p.kinds) {
		p.kinds = append(p.kinds, useKind{})
	}
	k := &p.kinds[number]
	if !k.known {
		*k = useKind{known: true, space: most}
		for i, h := range n.found {
			k.space = min(k.space, n.spaceOf(n.m.Spec(h.Link)))
			k.channel = n.channelOf(n.found, i)
		}
	}
	return k
}

// passes notes the route found last, which is of a use, at each of its links. It returns its hops.
func (n *Fabric) passes(p *plan, u *Use, k *useKind, sole bool) []routes.Hop {
	n.path = n.path[:0]
	from := aSource | uint32(u.From)
	for i, h := range n.found {
		li, channel := n.link(h.Link), h.Channel
		if i == len(n.found)-1 {
			channel = k.channel
		}
		for int(li) >= len(p.bytes) {
			p.bytes, p.channels, p.from = append(p.bytes, 0), append(p.channels, 0), append(p.from, 0)
		}
		if c := p.channels[li]; c&(1<<channel) == 0 {
			if p.channels[li] |= 1 << channel; c != 0 {
				p.vcs++
			}
		}
		if sole && p.users[h.Link] == 1 {
			n.links[li].own.Flags |= soleRoute
		}
		p.bytes[li] += u.Bytes
		p.note(li, from)
		n.path = append(n.path, routes.MakeHop(li, channel))
		from = li + 1
	}
	return n.path
}

// trimmed is a slice without the room in which it grew, if that is much.
func trimmed[T any](s []T) []T {
	if cap(s)-len(s) > len(s)/16 {
		return slices.Clone(s)
	}
	return s
}

// compressHops is the number of hops from which on routes share them. Fewer hops fit in memory and
// caches, and a jump takes time.
const compressHops = 1 << 22

// compress stores the routes of uses, which are in whole, so that they share parts.
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
	n.halves = routes.Halves{} // some may lie beyond
	n.q.Prefetch(nil)
	n.exclusive, n.reached = nil, nil
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
				n.exclusive.Learn(u.Kind, n.specs(n.found))
				continue
			}
			u.Reserved = reserved(n.AddRoute(u.From, u.To, false))
		}
	}
}

// specs are those of the links of a path in the machine.
func (n *Fabric) specs(path []machine.Hop) (specs []*machine.LinkSpec) {
	for _, h := range path {
		specs = append(specs, n.m.Spec(h.Link))
	}
	return specs
}
