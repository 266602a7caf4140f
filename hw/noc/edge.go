package noc

import (
	"cmp"
	"math"
	"slices"

	"kernbench/pages"
	"kernbench/unit"
)

// This file is about edges: how messages of isolated routes reach a link, from the link before or from
// a source.

// junction is where several edges lead to a link: half a cache line, of which there are as many side by
// side as the edges need, all of one cache line where these are no more than four.
type junction struct {
	pending uint32 // messages that are on their way to the link, or will be
	nearest uint32 // how far away the nearest source is, in ps, which comes by the first edge
	second  uint32 // the nearest that comes by another
	_       uint32
	edges   [perJunction]edge
}

// edge is one of several that lead to a link. A link with one knows itself what there is to know.
type edge struct {
	pending uint32 // messages that are on their way over it, or will be
	flying  uint32 // those that are
}

const (
	perJunction = 2

	// onlyEdge stands for the edge of a link that has but one.
	onlyEdge = 0
)

// edge is an edge by its number, which counts from the first of all junctions.
func (n *Fabric) edge(e uint32) *edge { return &n.junctions[e/perJunction].edges[e%perJunction] }

// edgeTo is the number of the edge by which a route reaches a hop, from another link if it is not its
// first: see from.
func (n *Fabric) edgeTo(h hop, from uint32) uint32 {
	e := n.edgeNumber(h)
	if e == onlyEdge {
		return onlyEdge
	}
	li := n.linkOf(h)
	if e == n.farEdge() {
		e += uint32(slices.Index(n.crowds[li], from))
	}
	return n.junctionAt[li]*perJunction + e - 1
}

// otherwise is how far away the nearest source is that comes by another edge than e.
func (n *Fabric) otherwise(j *junction, li, e uint32) unit.Time {
	if e == n.junctionAt[li]*perJunction {
		return unit.Time(j.second)
	}
	return unit.Time(j.nearest)
}

// expect notes that a message will pass what is left of a route, as far as the links are of this side, and
// is on its way to the first of them, from another link if it is not the first of all.
func (n *Fabric) expect(r Route, from uint32) {
	h := n.hops[r.at]
	n.flies(n.linkOf(h), n.edgeTo(h, from))
	for !n.leaves(h) {
		li := n.linkOf(h)
		if e := n.edgeTo(h, from); e != onlyEdge {
			n.junctions[n.junctionAt[li]].pending++
			n.edge(e).pending++
		}
		if r = n.onward(r); r.Empty() {
			return
		}
		h, from = n.hops[r.at], li+1
	}
}

// flies notes that a message is on its way to a link by an edge.
func (n *Fabric) flies(li, e uint32) {
	if e == onlyEdge {
		n.links[li].flying++
		return
	}
	n.edge(e).flying++
}

// reached notes that a message that came by an edge starts on a link.
func (n *Fabric) reached(li, e uint32) {
	if e == onlyEdge {
		n.links[li].flying--
		return
	}
	n.junctions[n.junctionAt[li]].pending--
	x := n.edge(e)
	x.pending--
	x.flying--
}

// found is an edge of which not all is known.
type found struct {
	from uint32 // see from
	near uint32 // from a source to the link, at least
	next uint32 // another one of the same link, or 0
}

// arrival is from where a hop of stored routes is reached, and how far away the nearest source is.
type arrival struct{ from, near uint32 }

// connect finds the edges of all routes.
func (n *Fabric) connect(uses []Use) {
	known := make([]found, 1, len(n.links)+1)
	first := make([]uint32, len(n.links))
	arrivals := make([]arrival, len(n.hops)-n.kept)
	for i := range uses {
		if uses[i].Alone {
			continue
		}
		from, far := aSource|uint32(uses[i].From), unit.Time(0)
		for r := uses[i].Route(); !r.Empty(); r = n.onward(r) {
			li, near := n.linkOf(n.hops[r.at]), uint32(min(far, math.MaxUint32))
			if a := &arrivals[r.at-uint32(n.kept)]; a.from == 0 || near < a.near {
				*a = arrival{from, near}
				e := first[li]
				for e != 0 && known[e].from != from {
					e = known[e].next
				}
				if e == 0 {
					e = uint32(len(known))
					known = append(known, found{from: from, next: first[li], near: near})
					first[li] = e
				}
				known[e].near = min(known[e].near, near)
			} else if r.then == 0 {
				break // what comes now has been reached as soon
			}
			from, far = li+1, far+n.kind(&n.links[li]).latency
		}
	}
	n.join(known, first)
	for k, a := range arrivals {
		h := &n.hops[n.kept+k]
		if a.from == 0 || n.junctionAt[n.linkOf(*h)] == 0 {
			continue // it is no link, or one with one edge
		}
		e, number := known[first[n.linkOf(*h)]], uint32(1)
		for ; e.from != a.from && number < n.farEdge(); number++ {
			e = known[e.next]
		}
		*h |= hop(number)
	}
}

// join makes the junctions, and puts the edges that are known of each in the order of their numbers: those
// of sources first, then the nearest.
func (n *Fabric) join(known []found, first []uint32) {
	n.junctionAt, n.crowds = pages.Large(make([]uint32, len(n.links))), map[uint32][]uint32{}
	end := uint32(1)
	var edges []found
	for li, e := range first {
		if e == 0 || known[e].next == 0 {
			continue
		}
		edges = edges[:0]
		for at := e; at != 0; at = known[at].next {
			edges = append(edges, known[at])
		}
		slices.SortFunc(edges, func(a, b found) int {
			return cmp.Or(cmp.Compare(b.from>>31, a.from>>31), cmp.Compare(a.near, b.near), cmp.Compare(a.from, b.from))
		})
		at := e
		for i := range edges {
			known[at].from, known[at].near = edges[i].from, edges[i].near
			if uint32(i+1) >= n.farEdge() {
				n.crowds[uint32(li)] = append(n.crowds[uint32(li)], edges[i].from)
			}
			at = known[at].next
		}
		if len(edges) > perJunction {
			end += end % 2 // an even one is where a cache line begins
		}
		n.junctionAt[li] = end
		end += uint32(len(edges)+perJunction-1) / perJunction
	}
	n.junctions = pages.Large(make([]junction, end))
	for li, e := range first {
		if at := n.junctionAt[li]; at != 0 {
			n.junctions[at].nearest, n.junctions[at].second = known[e].near, known[known[e].next].near
		}
	}
}
