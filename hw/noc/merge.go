package noc

import (
	"cmp"
	"fmt"
	"math"
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
	flying  uint32 // those of them that are past the link before
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

// expect counts a message at all links of its route, the first of which it approaches.
func (n *Fabric) expect(m *message) {
	r := m.route
	h := n.routes.Hops[r.At]
	n.approaches(n.linkOf(h), edgeOf(h))
	for ; !r.Empty(); r = n.routes.Onward(r) {
		if e := edgeOf(n.routes.Hops[r.At]); e != onlyEdge {
			n.mergePoint(e).pending++
			n.edge(e).pending++
		}
	}
}

// approaches counts a message that is past the link before, by an edge.
func (n *Fabric) approaches(li, e uint32) {
	if e == onlyEdge {
		if n.contentionFree[li] == 0 {
			n.links[li].flying++
		}
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

// found is an edge while the merge points are made.
type found struct {
	from uint32 // see from
	near uint32 // distance of the nearest source to the link
	next uint32 // another one of the same link, or 0
}

// arrival is where a hop of stored routes is reached from, and the distance of the nearest source.
type arrival struct{ from, near uint32 }

// connect finds the edges of all routes.
func (n *Fabric) connect(uses []Use) {
	known := make([]found, 1, len(n.links)+1)
	first := make([]uint32, len(n.links))
	arrivals := make([]arrival, len(n.routes.Hops)-n.kept)
	for i := range uses {
		if uses[i].Exclusive {
			continue
		}
		from, far := aSource|uint32(uses[i].From), unit.Time(0)
		for r := uses[i].Route(); !r.Empty(); r = n.routes.Onward(r) {
			li, near := n.linkOf(n.routes.Hops[r.At]), uint32(min(far, math.MaxUint32))
			if a := &arrivals[r.At-uint32(n.kept)]; a.from == 0 || near < a.near {
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
			} else if r.Then == 0 {
				break // the rest has been reached from as near
			}
			from, far = li+1, far+n.kind(&n.links[li]).latency
		}
	}
	number := n.makeMergePoints(known, first)
	for k, a := range arrivals {
		h := &n.routes.Hops[n.kept+k]
		if a.from == 0 {
			continue // not a link
		}
		li := n.linkOf(*h)
		if e, i := first[li], uint32(0); known[e].next != 0 {
			for ; known[e].from != a.from; i++ {
				e = known[e].next
			}
			*h = h.Mark((number[li]+i/perMergePoint)<<edgeBits | i%perMergePoint)
		}
	}
}

// makeMergePoints makes the merge points and puts the edges of each in order: those of sources
// first, then the nearest. It returns the number of each link's merge point; 0: none.
func (n *Fabric) makeMergePoints(known []found, first []uint32) (number []uint32) {
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
		end += uint32(len(edges)+perMergePoint-1) / perMergePoint
	}
	if end > mostMergePoints {
		panic(fmt.Sprintf("noc: %d merge points: a hop can tell at most %d apart", end, mostMergePoints))
	}
	n.mergePoints = make([]mergePoint, end)
	for li, e := range first {
		at := number[li]
		if at == 0 {
			continue
		}
		n.mergePoints[at] = mergePoint{link: uint32(li), nearest: known[e].near, second: known[known[e].next].near}
		for i, e := at, e; e != 0; i++ {
			if i > at {
				n.mergePoints[i].link = continues | at
			}
			for k := 0; k < perMergePoint && e != 0; k++ {
				e = known[e].next
			}
		}
	}
	return number
}
