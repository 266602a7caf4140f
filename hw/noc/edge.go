package noc

import (
	"math"
	"slices"

	"kernbench/pages"
	"kernbench/unit"
)

// This file is about edges: how messages of isolated routes reach a link, from the link before or from
// a source.

// edge is one of several that lead to a link. A link with one knows itself what there is to know.
type edge struct {
	from    uint32 // see from
	flying  uint32 // messages that are on their way over it
	pending uint32 // those, and messages that will be
	near    uint32 // how far away the nearest source of another edge is, in ps
}

// onlyEdge stands for the edge of a link that has but one.
const onlyEdge = 0

// junction is where several edges lead to a link.
type junction struct {
	first   uint32 // of them, which are side by side in Fabric.edges
	pending uint32 // messages that are on their way to the link, or will be
}

// edgeTo is the number of the edge by which a path reaches its link k.
func (n *Fabric) edgeTo(path []hop, k uint32) uint32 {
	e := n.edgeNumber(path[k])
	if e == onlyEdge {
		return onlyEdge
	}
	far := e == n.farEdge()
	e += n.junctions[n.linkOf(path[k])].first - 1
	if far {
		for from := n.linkOf(path[k-1]) + 1; n.edges[e].from != from; {
			e++
		}
	}
	return e
}

// expect notes that a message will pass a path from a hop on, as far as the links are of this side, and
// is on its way to the first of them.
func (n *Fabric) expect(path []hop, from uint32) {
	for k := from; k < uint32(len(path)) && !n.leaves(path[k]); k++ {
		if e := n.edgeTo(path, k); e != onlyEdge {
			n.junctions[n.linkOf(path[k])].pending++
			n.edges[e].pending++
		}
	}
	n.flies(n.linkOf(path[from]), n.edgeTo(path, from))
}

// flies notes that a message is on its way to a link by an edge.
func (n *Fabric) flies(li, e uint32) {
	if e == onlyEdge {
		n.links[li].flying++
		return
	}
	n.edges[e].flying++
}

// reached notes that a message that came by an edge starts on a link.
func (n *Fabric) reached(li, e uint32) {
	if e == onlyEdge {
		n.links[li].flying--
		return
	}
	n.junctions[li].pending--
	n.edges[e].pending--
	n.edges[e].flying--
}

// found is an edge of which not all is known.
type found struct {
	from uint32
	near uint32 // from a source to the link, at least
	next uint32 // another one of the same link, or 0
}

// connect finds the edges of all routes.
func (n *Fabric) connect(uses []Use) {
	known, number := make([]found, 1, len(n.links)+1), 1
	first := make([]uint32, len(n.links))
	for i := range uses {
		from, far := aSource|uint32(uses[i].From), unit.Time(0)
		for _, h := range n.pathOf(&uses[i]) {
			li, near := n.linkOf(h), uint32(min(far, math.MaxUint32))
			e := first[li]
			for e != 0 && known[e].from != from {
				e = known[e].next
			}
			if e == 0 {
				switch at := first[li]; {
				case at == 0:
				case known[at].next == 0: // now there are two
					number += 2
				default:
					number++
				}
				e = uint32(len(known))
				known = append(known, found{from: from, next: first[li], near: near})
				first[li] = e
			}
			known[e].near = min(known[e].near, near)
			from, far = li+1, far+n.kind(&n.links[li]).latency
		}
	}
	n.junctions, n.edges = pages.Large(make([]junction, len(n.links))), pages.Large(make([]edge, number))[:1]
	for li, e := range first {
		if e != 0 && known[e].next != 0 {
			n.junctions[li].first = uint32(len(n.edges))
			n.share(known, e)
		}
	}
	for i := range uses {
		from := aSource | uint32(uses[i].From)
		path := n.pathOf(&uses[i])
		for k, h := range path {
			li := n.linkOf(h)
			if known[first[li]].next != 0 {
				e := uint32(1)
				for at := n.junctions[li].first; n.edges[at].from != from && e < n.farEdge(); at++ {
					e++
				}
				path[k] |= hop(e)
			}
			from = li + 1
		}
	}
}

// share gives the edges of a link numbers side by side, sources before links.
func (n *Fabric) share(known []found, e uint32) {
	at := len(n.edges)
	for ; e != 0; e = known[e].next {
		n.edges = append(n.edges, edge{from: known[e].from, near: known[e].near})
	}
	edges := n.edges[at:]
	slices.SortFunc(edges, func(a, b edge) int { return int(b.from>>31) - int(a.from>>31) })
	// For each the nearest of the others: the nearest of all, or at that one the second.
	nearest, second := 0, uint32(math.MaxUint32)
	for i := 1; i < len(edges); i++ {
		if edges[i].near < edges[nearest].near {
			nearest, second = i, edges[nearest].near
		} else {
			second = min(second, edges[i].near)
		}
	}
	least := edges[nearest].near
	for i := range edges {
		edges[i].near = least
	}
	edges[nearest].near = second
}
