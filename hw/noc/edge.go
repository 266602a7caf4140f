package noc

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kernbench/pages"
	"kernbench/unit"
)

// This file is about edges: how messages of isolated routes reach a link, from the link before or from
// a source.

// junction is where several edges lead to a link. It fills a cache line; where there are more edges than it
// has room for, others behind it have them.
type junction struct {
	link    uint32 // that they lead to; or continues, and the junction that this one continues
	pending uint32 // messages that are on their way to the link, or will be
	nearest uint32 // how far away the nearest source is, in ps, which comes by the first edge
	second  uint32 // the nearest that comes by another
	edges   [perJunction]edge
}

// edge is one of several that lead to a link. A link with one knows itself what there is to know.
type edge struct {
	pending uint32 // messages that are on their way over it, or will be
	flying  uint32 // those that are
}

const (
	perJunction = 6
	edgeBits    = 3 // of the number of an edge: which of its junction's it is
	continues   = 1 << 31

	// mostJunctions is how many a hop has bits for.
	mostJunctions = uint32(meets) >> channelBits >> edgeBits

	// onlyEdge stands for the edge of a link that has but one.
	onlyEdge = 0
)

// edge is an edge by its number.
func (n *Fabric) edge(e uint32) *edge { return &n.junctions[e>>edgeBits].edges[e&(1<<edgeBits-1)] }

// junction is what an edge belongs to.
func (n *Fabric) junction(e uint32) *junction {
	j := &n.junctions[e>>edgeBits]
	if j.link >= continues {
		j = &n.junctions[j.link-continues]
	}
	return j
}

// otherwise is how far away the nearest source is that comes by another edge.
func (j *junction) otherwise(x *edge) unit.Time {
	if x == &j.edges[0] {
		return unit.Time(j.second)
	}
	return unit.Time(j.nearest)
}

// expect notes that a message will pass what is left of its route, as far as the links are of this side, and
// is on its way to the first of them.
func (n *Fabric) expect(m *message) {
	r := m.route
	h := n.hops[r.at]
	n.flies(n.linkOf(h), edgeOf(h))
	for !n.leaves(m, h) {
		if e := edgeOf(h); e != onlyEdge {
			n.junction(e).pending++
			n.edge(e).pending++
		}
		if r = n.onward(r); r.Empty() {
			return
		}
		h = n.hops[r.at]
	}
}

// flies notes that a message is on its way to a link by an edge.
func (n *Fabric) flies(li, e uint32) {
	if e == onlyEdge {
		if n.swift[li] == 0 {
			n.links[li].flying++
		}
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
	n.junction(e).pending--
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
	number := n.makeJunctions(known, first)
	for k, a := range arrivals {
		h := &n.hops[n.kept+k]
		if a.from == 0 {
			continue // it is no link
		}
		li := n.linkOf(*h)
		if e, i := first[li], uint32(0); known[e].next != 0 {
			for ; known[e].from != a.from; i++ {
				e = known[e].next
			}
			*h = makeHop((number[li]+i/perJunction)<<edgeBits|i%perJunction, uint8(*h&(channels-1))) | meets
		}
	}
}

// makeJunctions makes the junctions, and puts the edges that are known of each in the order of their numbers: those
// of sources first, then the nearest. It returns the number of each link's junction.
func (n *Fabric) makeJunctions(known []found, first []uint32) (number []uint32) {
	number = make([]uint32, len(n.links))
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
		for i, at := 0, e; at != 0; i, at = i+1, known[at].next {
			known[at].from, known[at].near = edges[i].from, edges[i].near
		}
		number[li] = end
		end += uint32(len(edges)+perJunction-1) / perJunction
	}
	if end > mostJunctions {
		panic(fmt.Sprintf("noc: %d junctions: a hop can tell at most %d apart", end, mostJunctions))
	}
	n.junctions = pages.Large(make([]junction, end))
	for li, e := range first {
		at := number[li]
		if at == 0 {
			continue
		}
		n.junctions[at] = junction{link: uint32(li), nearest: known[e].near, second: known[known[e].next].near}
		for i, e := at, e; e != 0; i++ {
			if i > at {
				n.junctions[i].link = continues | at
			}
			for k := 0; k < perJunction && e != 0; k++ {
				e = known[e].next
			}
		}
	}
	return number
}
