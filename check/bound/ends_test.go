package bound

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// TestSoonest: links that can be used for part of the time carry the bytes in the time found, and
// fewer bytes in any shorter time.
func TestSoonest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		links := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) usable {
			return usable{rapid.Int64Range(1e6, 1e13).Draw(t, "rate"), unit.Time(rapid.Int64Range(0, 1e8).Draw(t, "lost"))}
		}), 1, 6).Draw(t, "links")
		bytes := rapid.Int64Range(1, 1e9).Draw(t, "bytes")
		carries := func(at float64) (sum float64) {
			for _, l := range links {
				sum += float64(l.rate) / 1e12 * max(0, at-float64(l.lost))
			}
			return sum
		}
		at := float64(soonest(bytes, append([]usable(nil), links...)))
		if got := carries(at); got > float64(bytes)*(1+1e-9) {
			t.Fatalf("%v ps are no limit: %v bytes of %d pass", at, got, bytes)
		}
		if got := carries(at*(1+1e-8) + 3); got < float64(bytes)*(1-1e-9) {
			t.Fatalf("%v ps is not the highest limit: a little later %v bytes of %d have passed", at, got, bytes)
		}
	})
}

// TestEnds compares the limits of a line of three ranks with those found by hand. Links have 1 GB/s
// and delays of 10 and 100 ns, and memories have 1 ns.
func TestEnds(t *testing.T) {
	line := func() *graph {
		g := &graph{nodes: 3, rank: []int32{0, 1, 2}, cube: []int32{0, 1, 2}, sip: []int32{0, 1, 2}}
		for i, ns := range []unit.Time{10, 100} {
			a, b := int32(i), int32(i+1)
			g.edges = append(g.edges, edge{a, b, gb, ns * unit.Nanosecond, 0}, edge{b, a, gb, ns * unit.Nanosecond, 0})
		}
		g.port, g.access = []int64{4 * gb, 4 * gb, 4 * gb}, []unit.Time{unit.Nanosecond, unit.Nanosecond, unit.Nanosecond}
		g.edgeStr = func(e int32) string { return fmt.Sprint("link ", e) }
		g.nodeStr = func(n int32) string { return fmt.Sprint("rank ", n) }
		g.link()
		return g
	}
	for _, test := range []struct {
		co   *collective.Collective
		kind Kind
		ns   float64 // of 1,000 bytes from each rank, or from rank 0
	}{
		{collective.Broadcast, Distance, 1 + 10 + 100 + 1 + 1000}, // rank 2 gets all, by one link
		{collective.AllGather, Distance, 1 + 10 + 100 + 1 + 1000},
		{collective.AllGather, Node, 1 + 100 + 1 + 2000},           // rank 2 is entered by what both others have
		{collective.AllReduce, Node, 1 + 100 + 1 + 1000},           // and by the sum
		{collective.AllGather, Memory, 1 + 3000./4},                // that of rank 0 reads and writes
		{collective.Gather, Memory, 1 + 10 + 2000./4 + 1},          // and that of the root is written from 11 ns on
		{collective.AllGather, Volume, (6000 + 2*12 + 2*102) / 4.}, // two links lose 12 ns, two 102
		{collective.Gather, Memory, 1 + 10 + 2000./4 + 1},          // that of rank 0 is written from 11 ns on
		{collective.Broadcast, Memory, 1 + 1000./4 + 10 + 1},       // that of rank 0 is read, and rank 1 is 10 ns away
		{collective.Broadcast, Cut, 1 + 100 + 10 + 1 + 1000},       // into rank 2, from rank 0
	} {
		t.Run(test.co.Name+" "+string(test.kind), func(t *testing.T) {
			r, err := newSolver(line(), 1, 1).Limits(test.co, collective.Call{World: 3, Elems: 1000, Type: dtype.U8}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range r.Bounds {
				if b.Kind != test.kind {
					continue
				}
				if got := b.Time.Ns(); got > test.ns || got < test.ns-0.01 {
					t.Errorf("%v ns, want %v: %+v", got, test.ns, b.Witness)
				}
				return
			}
			t.Errorf("there is none, want %v ns", test.ns)
		})
	}
}

// A solver keeps no more delays than delaysKept, for however many sets of ranks it is asked.
func TestDelaysAreBounded(t *testing.T) {
	g := lattice(false, 5)
	g.nodes = delaysKept / 3
	s := newSolver(g, 1, 1)
	for first := range g.rank {
		if got := s.early(g, func(r int) bool { return r >= first }); got[first] == unit.MaxTime {
			t.Errorf("nothing leads to rank %d from itself", first)
		}
		if kept := len(s.delays) * g.nodes; kept > delaysKept {
			t.Fatalf("%d delays are kept, want at most %d", kept, delaysKept)
		}
	}
}

// TestDelaysAreKept: a solver that has answered for other ranks, and in the other direction, finds
// the delays that a new one finds. Links of a ring have other delays in each direction.
func TestDelaysAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 17).Draw(t, "ranks")
		g := &graph{nodes: n}
		for a := range n {
			next, here := int32((a+1)%n), int32(a)
			for _, e := range []edge{{from: here, to: next}, {from: next, to: here}} {
				e.rate, e.latency = gb, unit.Time(rapid.IntRange(1, 1000).Draw(t, "delay"))
				g.edges = append(g.edges, e)
			}
			g.rank, g.cube, g.sip = append(g.rank, here), append(g.cube, here), append(g.sip, here)
			g.port, g.access = append(g.port, gb), append(g.access, unit.Time(rapid.IntRange(0, 50).Draw(t, "access")))
		}
		g.link()
		s := newSolver(g, 1, 1)
		for range 8 {
			from := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "from")
			inside := func(r int) bool { return from[r] }
			if got, want := s.early(s.g, inside), newSolver(g, 1, 1).early(g, inside); !slices.Equal(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
			if got, want := s.early(s.turned(), inside), newSolver(g, 1, 1).early(g.reversed(), inside); !slices.Equal(got, want) {
				t.Fatalf("against the links %v, want %v", got, want)
			}
		}
	})
}
