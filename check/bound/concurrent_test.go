package bound

import (
	"fmt"
	"math"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"
)

// toAll returns an all-to-all of one element for each pair of a graph's ranks.
func toAll(t interface{ Fatal(...any) }, g *graph) *demand {
	n := len(g.rank)
	d, err := newDemand(collective.AllToAll, collective.Call{World: n, Elems: n, Type: dtype.F64})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// concurrent solves the largest concurrent flow as a linear program and returns the least time in
// seconds. The variables are the bytes that each place with data sends over each arc:
//
//	least T: what enters a place and does not leave it is what it should have,
//	         and what passes an arc is at most its rate times T.
func concurrent(tr *trading) (float64, error) {
	places, arcs, from := tr.count, len(tr.arcs), len(tr.from)
	columns := from*arcs + arcs + 1 // flows, what is left of each arc, T
	rows := from*(places-1) + arcs
	a, b, c := mat.NewDense(rows, columns, nil), make([]float64, rows), make([]float64, columns)
	c[columns-1] = 1
	row := 0
	for i, source := range tr.from {
		for at := range int32(places) {
			if at == source {
				continue // what leaves it follows from the others
			}
			for k, arc := range tr.arcs {
				switch at {
				case arc.to:
					a.Set(row, i*arcs+k, 1)
				case arc.from:
					a.Set(row, i*arcs+k, -1)
				}
			}
			for _, g := range tr.goods[source] {
				if g.to == at {
					b[row] = g.elems
				}
			}
			row++
		}
	}
	for k, arc := range tr.arcs {
		for i := range from {
			a.Set(row, i*arcs+k, 1)
		}
		a.Set(row, from*arcs+k, 1)
		a.Set(row, columns-1, -arc.rate/1e9)
		row++
	}
	most, _, err := lp.Simplex(c, a, b, 1e-10, nil)
	return most / 1e9, err
}

// On graphs small enough for a linear program, the proven limit is never above the optimum, and
// near it. The rate that the flow reaches is never below the optimum, and near it.
func TestLargestConcurrentFlow(t *testing.T) {
	solved := 0
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		tr, ok := newSolver(g, 1, 1).trades(toAll(t, g))
		if !ok {
			t.Fatal("too large")
		}
		best, above := tr.flow(0)
		proven := best.passes / best.takes
		want, err := concurrent(tr)
		if err != nil {
			t.Skip(err) // rows that depend on each other: the solver's weakness
		}
		solved++
		if proven > want*(1+1e-6) || above < want*(1-1e-6) {
			t.Fatalf("%v is proven and %v reached, the best is %v", proven, above, want)
		}
		if above > proven*(1+2*closeEnough) {
			t.Fatalf("between %v and %v there is more than %g", proven, above, closeEnough)
		}
		few := tr.prune(best)
		if pruned := few.passes / few.takes; pruned > want*(1+1e-6) || pruned < proven*(1-2e-3) {
			t.Fatalf("%v with links left out, of %v", pruned, proven)
		}
	})
	if solved == 0 {
		t.Error("nothing was compared")
	}
}

// Networks whose limit is known: by hand, or because a cut has it.
func TestConcurrentFlowsOfTheTextbook(t *testing.T) {
	tests := []struct {
		name string
		g    *graph
		want float64 // elements over the rate of a link
	}{
		{"ring of 9", lattice(true, 9), 10}, // 9 · (2 · (1+2+3+4)) hops on 18 links
		{"torus 8 × 8", lattice(true, 8, 8), 64},
		{"torus 4 × 4 × 4", lattice(true, 4, 4, 4), 32},
		{"mesh 8 × 4", lattice(false, 8, 4), 64},
		{"full mesh", fullMesh(7), 1},
		{"star", star(9), 8},
		{"leaf and spine", leafSpine(4, 8, 4), 4 * 24},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, _ := newSolver(tt.g, 1, 1).trades(toAll(t, tt.g))
			best, above := tr.flow(0)
			if proven := best.passes / best.takes * gb; proven > tt.want*(1+1e-9) || proven < tt.want*0.98 {
				t.Errorf("%v is proven, want %v", proven, tt.want)
			}
			if above*gb < tt.want*(1-1e-9) || above*gb > tt.want*1.02 {
				t.Errorf("%v is reached, want %v", above*gb, tt.want)
			}
		})
	}
}

// A limit that is as good as any ends the search, and the bound stays the simpler one.
func TestFlowStopsWhereALimitIsKnown(t *testing.T) {
	g := lattice(true, 8, 8)
	tr, _ := newSolver(g, 1, 1).trades(toAll(t, g))
	if _, above := tr.flow(64 / gb); above > 64/gb*(1+closeEnough) {
		t.Errorf("%v, want at most %v", above, 64/gb*(1+closeEnough))
	}
	r, err := newSolver(g, 1, 1).Limits(collective.AllToAll, collective.Call{World: 64, Elems: 64, Type: dtype.F64}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Bounds {
		if b.Kind == Flow && (b.Witness.Weights != nil || b.Time != 512000/8*8) {
			t.Errorf("%v: %+v", b.Time, b.Witness)
		}
	}
}

// Where no cut and no kind of link shows it, weights do.
func TestFlowWithWeights(t *testing.T) {
	g := lattice(true, 3, 3)
	g.orders = nil
	for i := range g.edges {
		g.edges[i].rate = gb * int64(1+i%5)
	}
	r, err := newSolver(g, 1, 1).Limits(collective.AllToAll, collective.Call{World: 9, Elems: 9 << 20, Type: dtype.F64}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr, _ := newSolver(g, 1, 1).trades(toAll(t, g))
	want, err := concurrent(tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Bounds {
		if b.Kind != Flow {
			continue
		}
		got := b.Time.Seconds() / (8 << 20)
		if b.Witness.Weights == nil || len(b.Witness.Weights) != len(b.Witness.Links) || got > want || got < want*(1-2*closeEnough) {
			t.Errorf("%v, want %v: %+v", got, want, b.Witness)
		}
		if by := over(b.Witness.Bytes, int64(b.Witness.Rate)); math.Abs(float64(by-b.Time)) > 1e-6*float64(b.Time) {
			t.Errorf("the witness says %v, the limit is %v", by, b.Time)
		}
		return
	}
	t.Error("there is no limit by flow")
}

// BenchmarkConcurrentFlow finds what is proven of a torus of n × n, and solves the linear program
// where it is small enough.
func BenchmarkConcurrentFlow(b *testing.B) {
	for _, n := range []int{2, 3, 4, 5, 8, 16, 32} {
		g := lattice(true, n, n)
		for i := range g.edges {
			g.edges[i].rate += int64(i%7) * gb / 8
		}
		tr, ok := newSolver(g, 1, 1).trades(toAll(b, g))
		if !ok {
			continue
		}
		b.Run(fmt.Sprintf("rounds/%d", n*n), func(b *testing.B) {
			for b.Loop() {
				best, above := tr.flow(0)
				b.ReportMetric(100*(above*best.takes/best.passes-1), "%within")
			}
		})
		if n > 4 {
			continue
		}
		b.Run(fmt.Sprintf("simplex/%d", n*n), func(b *testing.B) {
			for b.Loop() {
				if _, err := concurrent(tr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
