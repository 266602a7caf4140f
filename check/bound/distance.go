package bound

import (
	"cmp"
	"container/heap"
	"slices"

	"kernbench/unit"
)

// reach is the shortest delay from a node to every node, and the link by which each is reached.
type reach struct {
	at  []unit.Time
	via []int32
}

// from finds the shortest paths from a node, by Dijkstra's method.
func (g *graph) from(node int32) reach {
	r := reach{make([]unit.Time, g.nodes), make([]int32, g.nodes)}
	for i := range r.at {
		r.at[i], r.via[i] = unit.MaxTime, -1
	}
	r.at[node] = 0
	q := &waits{{0, node}}
	for q.Len() > 0 {
		w := heap.Pop(q).(wait)
		if w.at > r.at[w.node] {
			continue
		}
		for _, i := range g.out[w.node] {
			e := &g.edges[i]
			if at := w.at + e.latency; at < r.at[e.to] {
				r.at[e.to], r.via[e.to] = at, i
				heap.Push(q, wait{at, e.to})
			}
		}
	}
	return r
}

// path lists the links to a node.
func (r *reach) path(g *graph, to int32) []int32 {
	var path []int32
	for r.via[to] >= 0 {
		path = append(path, r.via[to])
		to = g.edges[r.via[to]].from
	}
	slices.Reverse(path)
	return path
}

type wait struct {
	at   unit.Time
	node int32
}

type waits []wait

func (q waits) Len() int           { return len(q) }
func (q waits) Less(i, j int) bool { return q[i].at < q[j].at }
func (q waits) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *waits) Push(w any)        { *q = append(*q, w.(wait)) }

func (q *waits) Pop() any {
	old := *q
	w := old[len(old)-1]
	*q = old[:len(old)-1]
	return w
}

// farthest is the pair of ranks with the largest delay, among those of which one depends on the
// other.
type farthest struct {
	from, to int
	delay    unit.Time // of the links between them
	path     []int32
}

// farthest searches for the largest delay. If there are many ranks it searches from some of them
// only. Each search finds a rank at an end of the machine, where the next search starts. Fewer
// searches make the limit weaker, but never wrong.
func (s *Solver) farthest(d *demand) (farthest, bool) {
	g := s.g
	best, found := farthest{}, false
	ask := func(g *graph, from int, turned bool) int {
		r := g.from(g.rank[from])
		last := -1
		for to := range g.rank {
			on, rank := from, to
			if turned {
				on, rank = to, from
			}
			if !d.depends(on, rank) || r.at[g.rank[to]] == unit.MaxTime {
				continue
			}
			if at := r.at[g.rank[to]]; last < 0 || at > r.at[g.rank[last]] {
				last = to
			}
			if at := r.at[g.rank[to]]; !found || at > best.delay {
				found, best = true, farthest{on, rank, at, r.path(g, g.rank[to])}
				if turned {
					slices.Reverse(best.path)
				}
			}
		}
		return last
	}
	switch d.pattern {
	case fromRoot, blocksRoot:
		ask(g, d.root, false)
	case rootSum, rootAll:
		ask(s.turned(), d.root, true)
	case nothing:
	default:
		if len(d.flows) > 0 {
			return s.farthestFlow(d)
		}
		asked := map[int]bool{}
		for _, start := range s.some {
			for at := start; at >= 0 && !asked[at]; {
				asked[at] = true
				at = ask(g, at, false)
			}
		}
	}
	return best, found
}

// farthestFlow is farthest for collectives in which only some pairs of ranks have data for each
// other. If there are many pairs it examines a few, between SIPs or else between cubes.
func (s *Solver) farthestFlow(d *demand) (best farthest, found bool) {
	g := s.g
	list := make([]flow, len(d.flows))
	copy(list, d.flows)
	apart := func(f *flow) int {
		a, b := g.rank[f.from], g.rank[f.to]
		switch {
		case g.sip[a] != g.sip[b]:
			return 0
		case g.cube[a] != g.cube[b]:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b flow) int {
		return cmp.Or(apart(&a)-apart(&b), int(a.from-b.from))
	})
	from, r, asked := int32(-1), reach{}, 0
	for i := range list {
		f := &list[i]
		if f.from != from {
			if asked++; asked > len(s.some) && !s.small() {
				break
			}
			from, r = f.from, g.from(g.rank[f.from])
		}
		to := g.rank[f.to]
		if at := r.at[to]; at != unit.MaxTime && (!found || at > best.delay) {
			best, found = farthest{int(f.from), int(f.to), at, r.path(g, to)}, true
		}
	}
	return best, found
}
