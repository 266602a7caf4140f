package bound

import "slices"

// A cut is a set of nodes, with the links that lead out of it. Any set makes a valid limit. The
// search covers the parts of the machine and the smallest cuts of flows.
type cut struct {
	inside   func(node int32) bool
	capacity int64 // of the links that leave it, bytes per second
	ranks    int   // in it
}

// cutsOf makes a cut of a set and one of all that is not in it.
func cutsOf(inside func(int32) bool, ranks, world int, out, in int64) [2]cut {
	return [2]cut{
		{inside, out, ranks},
		{func(n int32) bool { return !inside(n) }, in, world - ranks},
	}
}

// parts returns the cuts that the machine's build suggests. They are each tile, cube, SIP and group
// of SIPs, and, in each order, all nodes up to a place.
func (g *graph) parts() []cut {
	tile := make([]int32, g.nodes)
	for n := range tile {
		tile[n] = -1
	}
	for r, n := range g.rank {
		tile[n] = int32(r)
	}
	var all []cut
	for _, label := range append([][]int32{tile, g.cube, g.sip}, g.groups...) {
		all = append(all, g.pieces(label)...)
	}
	for _, o := range g.orders {
		all = append(all, g.prefixes(o.place)...)
	}
	return all
}

// pieces returns the cuts round all nodes of one label; -1 is none.
func (g *graph) pieces(label []int32) []cut {
	count := int(slices.Max(label)) + 1
	out, in, ranks := make([]int64, count), make([]int64, count), make([]int, count)
	for i := range g.edges {
		e := &g.edges[i]
		if a, b := label[e.from], label[e.to]; a != b {
			if a >= 0 {
				out[a] += e.rate
			}
			if b >= 0 {
				in[b] += e.rate
			}
		}
	}
	for _, n := range g.rank {
		if label[n] >= 0 {
			ranks[label[n]]++
		}
	}
	var all []cut
	for k := range count {
		if ranks[k] > 0 && ranks[k] < len(g.rank) {
			c := cutsOf(func(n int32) bool { return label[n] == int32(k) }, ranks[k], len(g.rank), out[k], in[k])
			all = append(all, c[:]...)
		}
	}
	return all
}

// prefixes returns the cuts between all nodes up to a place and those after it.
func (g *graph) prefixes(place []int32) []cut {
	count := int(slices.Max(place)) + 1
	out, in, ranks := make([]int64, count+1), make([]int64, count+1), make([]int, count+1)
	for i := range g.edges {
		e := &g.edges[i]
		switch a, b := place[e.from], place[e.to]; {
		case a < b: // it leads out of the sets that end at a, ..., b-1
			out[a] += e.rate
			out[b] -= e.rate
		case b < a:
			in[b] += e.rate
			in[a] -= e.rate
		}
	}
	for _, n := range g.rank {
		ranks[place[n]]++
	}
	var all []cut
	for k := range count {
		if k > 0 {
			out[k] += out[k-1]
			in[k] += in[k-1]
			ranks[k] += ranks[k-1]
		}
		if ranks[k] > 0 && ranks[k] < len(g.rank) && (k == 0 || ranks[k] > ranks[k-1]) {
			c := cutsOf(func(n int32) bool { return place[n] <= int32(k) }, ranks[k], len(g.rank), out[k], in[k])
			all = append(all, c[:]...)
		}
	}
	return all
}

// measure makes a cut of the source side of a flow.
func (g *graph) measure(set []bool) cut {
	c := cut{inside: func(n int32) bool { return set[n] }}
	for i := range g.edges {
		if e := &g.edges[i]; set[e.from] && !set[e.to] {
			c.capacity += e.rate
		}
	}
	for _, n := range g.rank {
		if set[n] {
			c.ranks++
		}
	}
	return c
}

// search uses flows to find cuts that limit a demand more than the known ones, which are parts of
// the machine at first. Weights assume that every rank has one element for the others, or they for
// it. If chunks differ by one element, the cut found may be slightly worse than the best.
func (s *Solver) search(d *demand) []cut {
	parts := s.parts
	switch d.pattern {
	case everyoneAll:
		best := s.best(d, parts)
		return append(slices.Clip(parts), s.ratios(best, s.some, false)...)
	case chunksSum:
		best := s.best(d, parts)
		return append(slices.Clip(parts), s.ratios(best, s.some, true)...)
	case rootAll:
		best := s.best(d, parts)
		return append(slices.Clip(parts), s.ratios(best, []int{d.root}, false)...)
	case blocksRoot:
		best := s.best(d, parts)
		return append(slices.Clip(parts), s.ratios(best, []int{d.root}, true)...)
	case everyoneSum:
		all := slices.Clip(parts)
		for _, r := range s.some {
			if r != s.some[0] {
				all = append(all, s.smallest(s.some[0], r), s.smallest(r, s.some[0]))
			}
		}
		return all
	case fromRoot, rootSum:
		all := slices.Clip(parts)
		for _, r := range s.some {
			switch {
			case r == d.root:
			case d.pattern == fromRoot:
				all = append(all, s.smallest(d.root, r))
			default:
				all = append(all, s.smallest(r, d.root))
			}
		}
		return all
	}
	return parts
}

// best returns the cut that limits a demand most, if every rank has one element.
func (s *Solver) best(d *demand, cuts []cut) (best ratio) {
	for i := range cuts {
		c := &cuts[i]
		n := s.weight(d, c)
		if c.capacity > 0 && n > 0 && (best.n == 0 || less(best.n, best.capacity, n, c.capacity)) {
			best = ratio{n, c.capacity}
		}
	}
	return best
}

// ratio is elements over the rate that carries them.
type ratio struct{ n, capacity int64 }

// weight returns the number of ranks whose elements must cross a cut, for the patterns that ratios
// serves.
func (s *Solver) weight(d *demand, c *cut) int64 {
	root := func() bool { return c.inside(s.g.rank[d.root]) }
	switch d.pattern {
	case everyoneAll:
		return int64(c.ranks)
	case chunksSum:
		return int64(d.world - c.ranks)
	case rootAll:
		if !root() {
			return int64(c.ranks)
		}
	case blocksRoot:
		if root() {
			return int64(d.world - c.ranks)
		}
	}
	return 0
}

// smallest returns the smallest cut with one rank inside and another not.
func (s *Solver) smallest(from, to int) cut {
	n := s.network()
	n.clear(s.rateUnit, 1)
	n.arcs[n.in[from]].left, n.arcs[n.out[to]].left = unlimited, unlimited
	n.run()
	return s.g.measure(n.inside())
}

// ratios finds a cut for each of some ranks: the cut without it that has the most ranks inside per
// rate of its links. If turned, it is the cut with it that has the most ranks outside. It starts
// from a known ratio, taken as time per element. If a flow with these capacities brings everything
// to the rank, or from it, no cut is worse. Otherwise the smallest cut of the flow is worse, and
// gives the next ratio (Dinkelbach).
func (s *Solver) ratios(best ratio, ranks []int, turned bool) (found []cut) {
	world := int64(len(s.g.rank))
	for _, r := range ranks {
		for best.n > 0 {
			p, q := best.n, best.capacity/s.rateUnit
			if k := gcd(p, q); k > 1 {
				p, q = p/k, q/k
			}
			for q > unlimited/world || p > unlimited/s.largestRate {
				p, q = max(p/2, 1), q/2
			}
			n := s.network()
			n.clear(s.rateUnit, p)
			ends, one := n.in, n.out[r]
			if turned {
				ends, one = n.out, n.in[r]
			}
			for _, a := range ends {
				n.arcs[a].left = q
			}
			n.arcs[one].left = unlimited
			if n.run() >= q*world {
				break
			}
			c := s.g.measure(n.inside())
			now := ratio{int64(c.ranks), c.capacity}
			if turned {
				now.n = world - now.n
			}
			if now.capacity == 0 || !less(best.n, best.capacity, now.n, now.capacity) {
				break
			}
			best, found = now, append(found, c)
		}
	}
	return found
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
