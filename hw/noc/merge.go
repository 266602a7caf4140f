package noc

import (
	"cmp"
	"fmt"
	"slices"

	"kernbench/hw/noc/routes"
	"kernbench/unit"
)

// This file counts the messages of reserved routes by edge: an edge is how they reach a link, from
// the link before or from a source. Where several edges lead to a link is a merge point.

// mergePoint fills a cache line. Where there are more edges than fit, further merge points behind
// it continue it.
type mergePoint struct {
	link    uint32 // that the edges lead to; or continues, plus the number of the merge point that this one continues
	pending uint32 // messages whose routes lead to the link and that have not started there
	nearest uint32 // distance of the nearest source, in ps, which comes by the first edge
	second  uint32 // distance of the nearest source that comes by another edge
	edges   [perMergePoint]edge
}

// edge is one of several that lead to a link. A link that only one leads to counts itself.
type edge struct {
	pending uint32 // messages whose routes lead over the edge and that have not started at the link
	flying  uint32 // those of them that are past the link before, and did not advance
}

const (
	perMergePoint = 6
	edgeBits      = 3 // of the number of an edge: which of its merge point's it is
	continues     = 1 << 31

	// mostMergePoints is how many a hop has bits for.
	mostMergePoints = routes.MostMarked >> edgeBits

	// onlyEdge stands for the edge of a link that has but one.
	onlyEdge = 0
)

// edge is an edge by its number.
func (n *Fabric) edge(e uint32) *edge { return &n.mergePoints[e>>edgeBits].edges[e&(1<<edgeBits-1)] }

// mergePoint is the merge point of an edge.
func (n *Fabric) mergePoint(e uint32) *mergePoint {
	j := &n.mergePoints[e>>edgeBits]
	if j.link >= continues {
		j = &n.mergePoints[j.link-continues]
	}
	return j
}

// otherwise is the distance of the nearest source that comes by another edge.
func (j *mergePoint) otherwise(x *edge) unit.Time {
	if x == &j.edges[0] {
		return unit.Time(j.second)
	}
	return unit.Time(j.nearest)
}

// expect counts a message at all links of its route.
func (n *Fabric) expect(m *message) {
	for r := m.route; !r.Empty(); r = n.routes.Onward(r) {
		if e := edgeOf(n.routes.Hops[r.At]); e != onlyEdge {
			n.mergePoint(e).pending++
			n.edge(e).pending++
		}
	}
}

// approaches counts a message that an event brings to a link by an edge.
func (n *Fabric) approaches(li, e uint32) {
	if e == onlyEdge {
		n.links[li].flying++
		return
	}
	n.edge(e).flying++
}

// started counts out a message that came by an edge and starts on a link.
func (n *Fabric) started(li, e uint32) {
	if e == onlyEdge {
		n.links[li].flying--
		return
	}
	n.mergePoint(e).pending--
	x := n.edge(e)
	x.pending--
	x.flying--
}

// edges are those of all links, while routes are reserved.
type edges struct {
	first   []edgeFound // by link
	further []edgeFound // number 0 is none
	several int         // links that have several
}

// edgeFound is an edge that leads to a link.
type edgeFound struct {
	from uint32 // see from; 0: none
	near uint32 // distance of the nearest source to the link
	next uint32 // another one of the same link, in edges.further, or 0
}

// note notes that a route reaches a link, so far from its source.
func (x *edges) note(li, from, near uint32) {
	e := &x.first[li]
	if e.from == 0 {
		e.from, e.near = from, near
		return
	}
	for e.from != from {
		if e.next == 0 {
			if e == &x.first[li] {
				x.several++
			}
			e.next = uint32(len(x.further))
			x.further = append(x.further, edgeFound{from: from, near: near})
			return
		}
		e = &x.further[e.next]
	}
	e.near = min(e.near, near)
}

// of appends the edges of a link.
func (x *edges) of(found []edgeFound, li int) []edgeFound {
	if x.first[li].from == 0 {
		return found
	}
	for e := &x.first[li]; ; e = &x.further[e.next] {
		if found = append(found, *e); e.next == 0 {
			return found
		}
	}
}

// put replaces the edges of a link by as many others.
func (x *edges) put(found []edgeFound, li int) {
	e := &x.first[li]
	for i := range found {
		e.from, e.near = found[i].from, found[i].near
		if e.next != 0 {
			e = &x.further[e.next]
		}
	}
}

// makeMergePoints makes the merge points and puts the edges of each in order: those of sources
// first, then the nearest. It returns the number of each link's merge point; 0: none.
func (n *Fabric) makeMergePoints(x *edges) (number []uint32) {
	number = make([]uint32, len(x.first))
	n.mergePoints = make([]mergePoint, 1, 1+x.several+len(x.further)/perMergePoint)
	var found []edgeFound
	for li := range x.first {
		if x.first[li].next == 0 {
			continue
		}
		found = x.of(found[:0], li)
		slices.SortFunc(found, func(a, b edgeFound) int {
			return cmp.Or(cmp.Compare(b.from>>31, a.from>>31), cmp.Compare(a.near, b.near), cmp.Compare(a.from, b.from))
		})
		x.put(found, li)
		at := uint32(len(n.mergePoints))
		number[li] = at
		n.mergePoints = append(n.mergePoints, mergePoint{link: uint32(li), nearest: found[0].near, second: found[1].near})
		for more := perMergePoint; more < len(found); more += perMergePoint {
			n.mergePoints = append(n.mergePoints, mergePoint{link: continues | at})
		}
	}
	if n := uint32(len(n.mergePoints)); n > mostMergePoints {
		panic(fmt.Sprintf("noc: %d merge points: a hop can tell at most %d apart", n, mostMergePoints))
	}
	return number
}

// mark puts edges in place of links in the hops of all routes, where several lead to a link.
func (n *Fabric) mark(uses []Use, number []uint32, x *edges, compressed bool) {
	var seen []uint64 // a bit for each hop
	if compressed {
		seen = make([]uint64, len(n.routes.Hops)/64+1)
	}
	for i := range uses {
		if uses[i].Exclusive {
			continue
		}
		from := aSource | uint32(uses[i].From)
		for r := uses[i].Route(); !r.Empty(); r = n.routes.Onward(r) {
			h := &n.routes.Hops[r.At]
			if compressed {
				word, bit := &seen[r.At/64], uint64(1)<<(r.At%64)
				if *word&bit != 0 && r.Then == 0 {
					break // the rest has been marked
				}
				*word |= bit
			}
			li := n.linkOf(*h)
			if number[li] != 0 && !h.Marked() {
				i := uint32(0)
				for e := &x.first[li]; e.from != from; i++ {
					e = &x.further[e.next]
				}
				*h = h.Mark((number[li]+i/perMergePoint)<<edgeBits | i%perMergePoint)
			}
			from = li + 1
		}
	}
}
