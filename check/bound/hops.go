package bound

import "math/bits"

// A linkSet is a set of links. Every element that moves between two ranks must pass a minimum
// number of them. So the sum of these passages cannot exceed what all links of the set carry.
type linkSet struct {
	links    []int32
	capacity int64  // of all of them, bytes per second
	passes   uint64 // element × link, at least
}

// linkSets returns those of each kind of link, of all links, and of all links between cubes. With
// weights of 0 and 1 on links they are solutions of the dual of the largest concurrent flow.
//
// In a large machine a cube is one node, and its inner links are not counted.
func (s *Solver) linkSets(d *demand) []linkSet {
	g := s.g
	where, count := s.places()
	kinds := int32(0)
	for i := range g.edges {
		kinds = max(kinds, g.edges[i].class+1)
	}
	all, between := kinds, kinds+1
	var found []linkSet
	for kind := range kinds + 2 {
		t := linkSet{}
		passed := make([]bool, len(g.edges))
		for i := range g.edges {
			e := &g.edges[i]
			if where[e.from] == where[e.to] || e.class != kind && kind != all && (kind != between || g.cube[e.from] == g.cube[e.to]) {
				continue
			}
			passed[i] = true
			t.links, t.capacity = append(t.links, int32(i)), t.capacity+e.rate
		}
		if len(t.links) > 0 && s.passes(d, &t, where, count, passed) {
			found = append(found, t)
		}
	}
	return found
}

// places returns the nodes that count as one: in a large machine, those of a cube.
func (s *Solver) places() ([]int32, int) {
	g := s.g
	if s.small() {
		each := make([]int32, g.nodes)
		for n := range each {
			each[n] = int32(n)
		}
		return each, g.nodes
	}
	count := int32(0)
	for _, c := range g.cube {
		count = max(count, c+1)
	}
	return g.cube, int(count)
}

// passes adds up the fewest links of a linkSet that all elements pass. It returns false if the sum
// overflows.
func (s *Solver) passes(d *demand, t *linkSet, where []int32, count int, passed []bool) bool {
	g := s.g
	out := make([][]int32, count)
	for i := range g.edges {
		if e := &g.edges[i]; where[e.from] != where[e.to] {
			out[where[e.from]] = append(out[where[e.from]], int32(i))
		}
	}
	ranks := make([]int64, count)
	for _, n := range g.rank {
		ranks[where[n]]++
	}
	flows := make([][]int32, count)
	for i := range d.flows {
		from := where[g.rank[d.flows[i].from]]
		flows[from] = append(flows[from], int32(i))
	}
	add := func(elems, links int64) bool {
		high, low := bits.Mul64(uint64(elems), uint64(links))
		sum, carry := bits.Add64(t.passes, low, 0)
		t.passes = sum
		return high == 0 && carry == 0
	}
	far := make([]int32, count)
	deque := make([]int32, 0, count)
	for from := range count {
		if ranks[from] == 0 || d.block == 0 && len(flows[from]) == 0 {
			continue
		}
		s.linkSetsFrom(int32(from), far, &deque, out, where, passed)
		if d.block > 0 {
			for to, n := range ranks {
				if n > 0 && far[to] > 0 && !add(ranks[from]*n*d.block, int64(far[to])) {
					return false
				}
			}
		}
		for _, i := range flows[from] {
			f := &d.flows[i]
			if k := far[where[g.rank[f.to]]]; k > 0 && !add(f.elems, int64(k)) {
				return false
			}
		}
	}
	return true
}

// linkSetsFrom returns the fewest links of a linkSet between a place and every place; -1 if no path
// exists.
func (s *Solver) linkSetsFrom(from int32, far []int32, queue *[]int32, out [][]int32, where []int32, passed []bool) {
	for i := range far {
		far[i] = -1
	}
	far[from] = 0
	now, later := append((*queue)[:0], from), []int32(nil)
	for k := int32(0); len(now) > 0; k++ {
		for i := 0; i < len(now); i++ { // grows by what costs nothing
			v := now[i]
			if far[v] != k {
				continue
			}
			for _, e := range out[v] {
				w := where[s.g.edges[e].to]
				switch {
				case !passed[e] && (far[w] < 0 || far[w] > k):
					far[w] = k
					now = append(now, w)
				case passed[e] && far[w] < 0:
					far[w] = k + 1
					later = append(later, w)
				}
			}
		}
		now, later = later, now[:0]
	}
	*queue = now
}
