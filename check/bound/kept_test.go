package bound

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/unit"
)

// TestLimitsDependOnNoEarlierCall: a solver keeps cuts and flows. After calls of other sizes and
// collectives it finds what a new solver finds.
func TestLimitsDependOnNoEarlierCall(t *testing.T) {
	all := []*collective.Collective{collective.AllReduce, collective.AllGather, collective.ReduceScatter,
		collective.AllToAll, collective.Broadcast, collective.Gather}
	rapid.Check(t, func(t *rapid.T) {
		g := lattice(rapid.Bool().Draw(t, "torus"), rapid.IntRange(1, 3).Draw(t, "x"), rapid.IntRange(2, 4).Draw(t, "y"))
		g.orders = nil
		for i := range g.edges {
			g.edges[i].rate = gb * int64(rapid.IntRange(1, 4).Draw(t, "rate"))
			g.edges[i].latency = unit.Time(rapid.IntRange(0, 2000).Draw(t, "delay"))
		}
		n := len(g.rank)
		s := newSolver(g, 1, 1)
		for range 4 {
			co := rapid.SampledFrom(all).Draw(t, "collective")
			elems := n * rapid.SampledFrom([]int{1, 2, 7, 300, 1 << 20}).Draw(t, "elements")
			c := collective.Call{World: n, Elems: elems, Type: dtype.F32}
			got, err := s.Limits(co, c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := newSolver(g, 1, 1).Limits(co, c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Bounds, got.Bounds); diff != "" {
				t.Fatalf("%s of %d elements: %s", co.Name, elems, diff)
			}
		}
	})
}
