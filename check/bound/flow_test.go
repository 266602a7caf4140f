package bound

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// bare returns a graph with ranks on some nodes, and nothing known of its build.
func bare(nodes int, ranks []int32, edges []edge) *graph {
	g := &graph{nodes: nodes, rank: ranks, edges: edges, cube: make([]int32, nodes), sip: make([]int32, nodes)}
	for n := range g.cube {
		g.cube[n] = int32(n)
	}
	g.port, g.access = make([]int64, len(ranks)), make([]unit.Time, len(ranks))
	g.edgeStr = func(e int32) string { return fmt.Sprintf("%d->%d", g.edges[e].from, g.edges[e].to) }
	g.nodeStr = func(n int32) string { return fmt.Sprint(n) }
	g.link()
	return g
}

// anyGraph returns a connected graph of a few nodes with ranks on most of them.
func anyGraph(t *rapid.T) *graph {
	n := rapid.IntRange(2, 7).Draw(t, "nodes")
	var edges []edge
	add := func(a, b int) {
		rate := rapid.Int64Range(1, 9).Draw(t, "rate") * 1e9
		edges = append(edges, edge{from: int32(a), to: int32(b), rate: rate,
			latency: unit.Time(rapid.Int64Range(0, 50).Draw(t, "latency"))})
	}
	for v := range n { // a circle, so that all can reach all
		add(v, (v+1)%n)
	}
	for range rapid.IntRange(0, 2*n).Draw(t, "further") {
		add(rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to"))
	}
	var ranks []int32
	for v := range n {
		if len(ranks) < 2 && n-v <= 2-len(ranks) || rapid.IntRange(0, 3).Draw(t, "rank") > 0 {
			ranks = append(ranks, int32(v))
		}
	}
	return bare(n, ranks, edges)
}

// sets calls do with every set of nodes, and what leaves it.
func sets(g *graph, do func(inside func(int32) bool, capacity int64)) {
	for set := range 1 << g.nodes {
		inside := func(n int32) bool { return set>>n&1 == 1 }
		capacity := int64(0)
		for i := range g.edges {
			if e := &g.edges[i]; inside(e.from) && !inside(e.to) {
				capacity += e.rate
			}
		}
		do(inside, capacity)
	}
}

// The cut that a flow ends with is the smallest of all, and its capacity is the flow.
func TestLargestFlowIsSmallestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		s := newSolver(g, 1, 1)
		from, to := 0, len(g.rank)-1
		got := s.smallest(from, to)
		want := int64(-1)
		sets(g, func(inside func(int32) bool, capacity int64) {
			if inside(g.rank[from]) && !inside(g.rank[to]) && (want < 0 || capacity < want) {
				want = capacity
			}
		})
		n := s.network()
		n.clear(s.rateUnit, 1)
		n.arcs[n.in[from]].left, n.arcs[n.out[to]].left = unlimited, unlimited
		if flow := n.run() * s.rateUnit; got.capacity != want || flow != want {
			t.Fatalf("cut %d, flow %d, want %d", got.capacity, flow, want)
		}
		if !got.inside(g.rank[from]) || got.inside(g.rank[to]) {
			t.Fatal("the cut does not part the two")
		}
	})
}

// Where the number of ranks inside a cut is enough, it comes to the same as asking each of them.
func TestCrossingByNumbers(t *testing.T) {
	for co, c := range calls {
		var ranks []int32
		for r := range int32(c.World) {
			ranks = append(ranks, r)
		}
		s := &Solver{g: &graph{rank: ranks}}
		d, err := newDemand(co, c)
		if err != nil {
			t.Fatal(err)
		}
		for set := range 1 << c.World {
			inside := func(r int) bool { return set>>r&1 == 1 }
			one := cut{inside: func(n int32) bool { return inside(int(n)) }, ranks: bits.OnesCount(uint(set))}
			if got, want := s.crossing(d, &one), d.crossing(inside); got != want {
				t.Errorf("%s of %d elements, root %d: %d leave the ranks %b of %d, want %d", co.Name, c.Elems, c.Root,
					got, set, c.World, want)
			}
		}
	}
}

func TestOver(t *testing.T) {
	tests := []struct {
		bytes, rate int64
		want        unit.Time
	}{
		{0, 1, 0},
		{-5, 1, 0},
		{5, 0, 0},
		{1, 3e12, 0},
		{1, 1e12, 1},
		{3, 2e12, 1},
		{1 << 60, 1, unit.MaxTime},
		{1 << 60, 1 << 60, unit.Second},
		{4096, 256e9, 16 * unit.Nanosecond},
	}
	for _, test := range tests {
		if got := over(test.bytes, test.rate); got != test.want {
			t.Errorf("%d B over %d B/s: %d ps, want %d", test.bytes, test.rate, got, test.want)
		}
	}
}

// Of all ranks that depend on each other, the farthest are those with the longest of the shortest
// ways, as Floyd and Warshall find them.
func TestFarthest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		world := len(g.rank)
		delay := make([][]unit.Time, g.nodes)
		for a := range delay {
			delay[a] = make([]unit.Time, g.nodes)
			for b := range delay[a] {
				if a != b {
					delay[a][b] = unit.MaxTime / 2
				}
			}
		}
		for _, e := range g.edges {
			delay[e.from][e.to] = min(delay[e.from][e.to], e.latency)
		}
		for k := range g.nodes {
			for a := range g.nodes {
				for b := range g.nodes {
					delay[a][b] = min(delay[a][b], delay[a][k]+delay[k][b])
				}
			}
		}
		co := rapid.SampledFrom(collective.All()).Draw(t, "collective")
		c := collective.Call{World: world, Elems: world, Type: dtype.F32, Root: rapid.IntRange(0, world-1).Draw(t, "root")}
		d, err := newDemand(co, c)
		if err != nil {
			t.Fatal(err)
		}
		want := unit.Time(0)
		means := meaning(co, c)
		for on := range world {
			for rank := range world {
				depends := d.pattern == meeting && on != rank
				for p := range means.pieces {
					depends = depends || p.from == on && p.to == rank
				}
				if depends {
					want = max(want, delay[g.rank[on]][g.rank[rank]])
				}
			}
		}
		f, found := newSolver(g, 1, 1).farthest(d)
		if !found || f.delay != want {
			t.Fatalf("%s: %v, want %v", co.Name, f.delay, want)
		}
		at, sum := g.rank[f.from], unit.Time(0)
		for _, e := range f.path {
			if g.edges[e].from != at {
				t.Fatalf("the path is not connected: %v", f.path)
			}
			at, sum = g.edges[e].to, sum+g.edges[e].latency
		}
		if at != g.rank[f.to] || sum != want {
			t.Fatalf("a path of %v to %d, want one of %v to %d", sum, at, want, g.rank[f.to])
		}
	})
}

func TestScaled(t *testing.T) {
	tests := []struct{ a, b, c, down, up int64 }{
		{0, 5, 3, 0, 0},
		{6, 5, 3, 10, 10},
		{7, 5, 3, 11, 12},
		{1 << 40, 1 << 40, 1 << 40, 1 << 40, 1 << 40},
		{1<<40 + 1, 1 << 40, 1<<40 + 2, 1<<40 - 1, 1 << 40},
		{1 << 62, 1 << 62, 1, math.MaxInt64, math.MaxInt64},
	}
	for _, test := range tests {
		if down, up := scaled(test.a, test.b, test.c), scaledUp(test.a, test.b, test.c); down != test.down || up != test.up {
			t.Errorf("%d × %d / %d is %d, rounded up %d; want %d and %d", test.a, test.b, test.c, down, up, test.down, test.up)
		}
	}
}
