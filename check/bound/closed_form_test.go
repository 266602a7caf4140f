package bound

import (
	"math"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	_ "kernbench/internal/fixedseed"

	"pgregory.net/rapid"
)

const gb = 1e9 // bytes per second of every link

// star is n ranks round a switch.
func star(n int) *graph {
	var edges []edge
	var ranks []int32
	for r := range int32(n) {
		edges = append(edges, edge{from: r, to: int32(n), rate: gb}, edge{from: int32(n), to: r, rate: gb})
		ranks = append(ranks, r)
	}
	return bare(n+1, ranks, edges)
}

// fullMesh is n ranks fully connected.
func fullMesh(n int) *graph {
	var edges []edge
	var ranks []int32
	for a := range int32(n) {
		for b := range int32(n) {
			if a != b {
				edges = append(edges, edge{from: a, to: b, rate: gb})
			}
		}
		ranks = append(ranks, a)
	}
	return bare(n, ranks, edges)
}

// leafSpine is a number of leaves of some ranks each. The bandwidth below a leaf is over times the
// bandwidth above it.
func leafSpine(leaves, each, over int) *graph {
	n := leaves * each
	spine := int32(n + leaves)
	var edges []edge
	var ranks []int32
	for leaf := range int32(leaves) {
		at := int32(n) + leaf
		for r := leaf * int32(each); r < (leaf+1)*int32(each); r++ {
			edges = append(edges, edge{from: r, to: at, rate: gb}, edge{from: at, to: r, rate: gb})
			ranks = append(ranks, r)
		}
		up := int64(each) * gb / int64(over)
		edges = append(edges, edge{from: at, to: spine, rate: up, class: 1}, edge{from: spine, to: at, rate: up, class: 1})
	}
	g := bare(n+leaves+1, ranks, edges)
	for leaf := range leaves {
		g.sip[n+leaf] = int32(leaf + 1)
		for r := range each {
			g.sip[leaf*each+r] = int32(leaf + 1)
		}
	}
	return g
}

// lattice returns a mesh or torus of ranks of any number of dimensions.
func lattice(wrap bool, dims ...int) *graph {
	n := 1
	for _, a := range dims {
		n *= a
	}
	var edges []edge
	var ranks []int32
	var orders []order
	stride := 1
	for _, a := range dims {
		o := order{make([]int32, n)}
		for v := range n {
			x := v / stride % a
			o.place[v] = int32(x)
			for _, step := range []int{1, a - 1} {
				to := (x + step) % a
				if a == 1 || a == 2 && step > 1 || !wrap && (to-x != 1 && to-x != -1) {
					continue
				}
				edges = append(edges, edge{from: int32(v), to: int32(v + (to-x)*stride), rate: gb})
			}
		}
		orders = append(orders, o)
		stride *= a
	}
	for v := range n {
		ranks = append(ranks, int32(v))
	}
	g := bare(n, ranks, edges)
	g.orders = orders
	return g
}

// Where a machine is as simple as that, the limits are those of the textbook.
func TestClosedForms(t *testing.T) {
	const elems = 1 << 30 // times 8 B
	tests := []struct {
		name string
		g    *graph
		co   *collective.Collective
		kind Kind
		want float64 // in elements over the rate of a link
	}{
		{"star all_gather", star(8), collective.AllGather, Node, 7},
		{"star all_gather", star(8), collective.AllGather, Cut, 7},
		{"star reduce_scatter", star(8), collective.ReduceScatter, Cut, 7. / 8},
		{"star all_reduce", star(8), collective.AllReduce, Volume, 2 * 7. / 8},
		{"star all_reduce, in the network too", star(8), collective.AllReduce, Cut, 1},
		{"star broadcast", star(8), collective.Broadcast, Cut, 1},
		{"star all_to_all", star(8), collective.AllToAll, Cut, 7. / 8},
		{"star all_to_all", star(8), collective.AllToAll, Flow, 7. / 8},
		{"full all_gather", fullMesh(6), collective.AllGather, Cut, 1},
		{"full reduce_scatter", fullMesh(8), collective.ReduceScatter, Cut, 1. / 8},
		{"full all_reduce", fullMesh(8), collective.AllReduce, Volume, 2. / 8},
		{"full all_to_all", fullMesh(8), collective.AllToAll, Flow, 1. / 8},
		{"full all_to_all", fullMesh(8), collective.AllToAll, Cut, 1. / 8},
		{"full broadcast", fullMesh(8), collective.Broadcast, Cut, 1. / 7},
		{"ring all_gather", lattice(true, 9), collective.AllGather, Cut, 8. / 2},
		{"ring all_reduce", lattice(true, 9), collective.AllReduce, Volume, 2 * 8. / (2 * 9)},
		{"ring all_reduce, in the network too", lattice(true, 9), collective.AllReduce, Cut, 1. / 2},
		{"ring all_to_all", lattice(true, 8), collective.AllToAll, Cut, 8. / 8},
		{"ring all_to_all", lattice(true, 8), collective.AllToAll, Flow, 8. / 8},
		{"ring broadcast", lattice(true, 8), collective.Broadcast, Cut, 1. / 2},
		{"torus 4x4 all_gather", lattice(true, 4, 4), collective.AllGather, Cut, 15. / 4},
		{"torus 4x4x4 all_gather", lattice(true, 4, 4, 4), collective.AllGather, Cut, 63. / 6},
		{"torus 4x4 all_reduce", lattice(true, 4, 4), collective.AllReduce, Volume, 2 * 15. / (4 * 16)},
		{"torus 8x4 all_to_all", lattice(true, 8, 4), collective.AllToAll, Cut, 8. / 8},
		{"torus 8x8 all_to_all", lattice(true, 8, 8), collective.AllToAll, Flow, 8. / 8},
		{"mesh 4x4 all_gather", lattice(false, 4, 4), collective.AllGather, Cut, 15. / 2},
		{"mesh 4x4 reduce_scatter", lattice(false, 4, 4), collective.ReduceScatter, Node, 15. / 16 / 2},
		{"mesh 8x4 all_to_all", lattice(false, 8, 4), collective.AllToAll, Cut, 8. / 4},
		{"mesh 4x4 broadcast", lattice(false, 4, 4), collective.Broadcast, Cut, 1. / 2},
		{"leaf-spine 4x8, 16:1, all_reduce", leafSpine(4, 8, 16), collective.AllReduce, Cut, 16. / 8},
		{"leaf-spine 4x8, 4:1, all_reduce", leafSpine(4, 8, 4), collective.AllReduce, Cut, 1},
		{"leaf-spine 4x8, 4:1, all_to_all", leafSpine(4, 8, 4), collective.AllToAll, Cut, 4 * 24. / 32},
		{"leaf-spine 4x8, 4:1, all_to_all", leafSpine(4, 8, 4), collective.AllToAll, Flow, 4 * 24. / 32},
		{"leaf-spine 4x8, 1:1, all_to_all", leafSpine(4, 8, 1), collective.AllToAll, Node, 31. / 32},
	}
	for _, test := range tests {
		t.Run(test.name+" "+string(test.kind), func(t *testing.T) {
			c := collective.Call{World: len(test.g.rank), Elems: elems / len(test.g.rank) * len(test.g.rank), Type: dtype.F64}
			r, err := newSolver(test.g, 1, 1).Limits(test.co, c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := test.want * float64(c.Elems) * 8 / gb
			for _, b := range r.Bounds {
				if b.Kind == test.kind {
					if got := b.Time.Seconds(); math.Abs(got/want-1) > 1e-9 {
						t.Errorf("%v s, want %v", got, want)
					}
					return
				}
			}
			t.Errorf("there is none, want %v s", want)
		})
	}
}

// On any graph, the best cut for gathering and scattering is the best of all sets of nodes.
func TestBestCutOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		world := len(g.rank)
		c := collective.Call{World: world, Elems: world * 1000, Type: dtype.F32, Root: rapid.IntRange(0, world-1).Draw(t, "root")}
		co := rapid.SampledFrom([]*collective.Collective{
			collective.AllGather, collective.ReduceScatter, collective.AllReduce,
			collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter,
		}).Draw(t, "collective")
		r, err := newSolver(g, 1, 1).Limits(co, c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := newDemand(co, c)
		if err != nil {
			t.Fatal(err)
		}
		want := Bound{}
		sets(g, func(inside func(int32) bool, capacity int64) {
			want.limit(d.crossing(func(r int) bool { return inside(g.rank[r]) })*4, capacity)
		})
		for _, b := range r.Bounds {
			if b.Kind == Cut {
				if w := &b.Witness; over(w.Bytes, int64(w.Rate)) != want.Time || b.Time < want.Time {
					t.Fatalf("%s: %v, want %v and the delays at both ends: %+v", co.Name, b.Time, want.Time, b.Witness)
				}
				return
			}
		}
		t.Fatalf("%s: no cut, want %v", co.Name, want.Time)
	})
}
