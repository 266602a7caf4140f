package bound

import (
	"slices"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/unit"

	"pgregory.net/rapid"
)

func TestTree(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ranks int64
		gap   unit.Time
		hop   unit.Time
		at    unit.Time
		steps []TreeStep
	}{
		{"one rank", 1, 1, 5, 0, []TreeStep{{0, 1}}},
		{"doubling", 8, 10, 10, 30, []TreeStep{{0, 1}, {10, 2}, {20, 4}, {30, 8}}},
		{"not a power", 9, 10, 10, 40, []TreeStep{{0, 1}, {10, 2}, {20, 4}, {30, 8}, {40, 9}}},
		// The rank with the data at 0 delivers it at 10, 14, 18 and 22; the next one at 20.
		{"several in a hop", 6, 4, 10, 22, []TreeStep{{0, 1}, {10, 2}, {20, 5}, {22, 6}}},
		// Each rank sends to the next: arrivals at 3, 6, 9, 12. The first one's next arrives at 13.
		{"a hop in a gap", 5, 10, 3, 12, []TreeStep{{0, 1}, {10, 4}, {12, 5}}},
		{"all at once", 100, 0, 7, 7, []TreeStep{{0, 1}, {7, 100}}},
		{"for nothing", 100, 5, 0, 0, []TreeStep{{0, 1}, {0, 100}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if at, steps := tree(tt.ranks, tt.gap, tt.hop); at != tt.at || !slices.Equal(steps, tt.steps) {
				t.Errorf("%v: %v, want %v: %v", at, steps, tt.at, tt.steps)
			}
		})
	}
}

// The tree is the recurrence R(t) = R(t-gap) + R(t-hop).
func TestTreeFollowsTheRecurrence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap, hop := rapid.IntRange(1, 12).Draw(t, "gap"), rapid.IntRange(1, 30).Draw(t, "hop")
		ranks := rapid.IntRange(2, 400).Draw(t, "ranks")
		known := []int{}
		for now := 0; ; now++ {
			n := 1
			if now >= gap {
				n = known[now-gap]
			}
			if now >= hop {
				n += known[now-hop]
			}
			if known = append(known, n); n >= ranks {
				break
			}
		}
		at, steps := tree(int64(ranks), unit.Time(gap), unit.Time(hop))
		if int(at) != len(known)-1 {
			t.Fatalf("%d ranks at %d, want %d", ranks, at, len(known)-1)
		}
		for _, s := range steps[:len(steps)-1] {
			if int(s.Ranks) != known[s.Time] {
				t.Fatalf("%d ranks at %d, want %d", s.Ranks, s.Time, known[s.Time])
			}
		}
	})
}

// The spread is not more than the definition of a collective requires of one rank, and it is the
// larger of both directions.
func TestSpread(t *testing.T) {
	for co, c := range calls {
		d, err := newDemand(co, c)
		if err != nil {
			t.Fatal(err)
		}
		reach, gather := d.spread()
		to, from := map[int]map[int]bool{}, map[int]map[int]bool{}
		add := func(m map[int]map[int]bool, a, b int) {
			if m[a] == nil {
				m[a] = map[int]bool{a: true}
			}
			m[a][b] = true
		}
		for p := range meaning(co, c).pieces {
			add(to, p.from, p.to)
			add(from, p.to, p.from)
		}
		most := func(m map[int]map[int]bool) (n int64) {
			for _, set := range m {
				n = max(n, int64(len(set)))
			}
			return n
		}
		wantReach, wantGather := most(to), most(from)
		if d.pattern == meeting {
			wantReach, wantGather = int64(c.World), int64(c.World)
		}
		if reach > max(wantReach, 1) || gather > max(wantGather, 1) || max(reach, gather, 1) != max(wantReach, wantGather, 1) {
			t.Errorf("%s of %d ranks, %d elements, root %d, counts %v: %d and %d, want %d and %d",
				co.Name, c.World, c.Elems, c.Root, c.Counts, reach, gather, wantReach, wantGather)
		}
	}
}

// A rank sends once in 3 ns, and receives once in 2.5; it takes 10 ns each, between memories of 5
// ns.
func TestFanOut(t *testing.T) {
	g := star(5)
	for r := range g.access {
		g.access[r] = 5000
	}
	s := newSolver(g, 1, 1)
	s.costs = costs{issue: 2000, send: 1000, recv: 500, setup: 250}
	var rings []Ring
	for r := range 5 {
		// 2 + 1 + 0.25 + 6.246 + 4 B at 1 TB/s + 0.5
		rings = append(rings, Ring{From: r, To: (r + 1) % 5, Rate: unit.TBPerSecond, Delay: 6246, Slots: 4, SlotBytes: 64})
	}
	for _, tt := range []struct {
		co      *collective.Collective
		rings   []Ring
		want    unit.Time
		inbound bool
	}{
		{collective.Broadcast, rings, 10000 + 10000 + 3*3000, false},
		{collective.Reduce, rings, 10000 + 10000 + 3*2500, true},
		{collective.AllReduce, rings, 10000 + 10000 + 3*3000, false},
		{collective.Barrier, rings, 9996 + 3*3000, false}, // no bytes, no memories
		{collective.Broadcast, nil, 0, false},             // it does not use rings
	} {
		c := collective.Call{World: 5, Elems: 1, Type: dtype.F32}
		if tt.co == collective.Barrier {
			c.Elems = 0
		}
		r, err := s.Limits(tt.co, c, Options{Rings: tt.rings, Ideal: true})
		if err != nil {
			t.Fatal(err)
		}
		var got Bound
		for _, b := range r.Bounds {
			if b.Kind == FanOut {
				got = b
			}
		}
		if got.Time != tt.want || got.Witness.Inbound != tt.inbound {
			t.Errorf("%s: %v, want %v: %+v", tt.co.Name, got.Time, tt.want, got.Witness)
		}
		if r.Hardware >= got.Time && tt.want > 0 {
			t.Errorf("%s: it counts for the hardware: %v", tt.co.Name, r.Hardware)
		}
	}
}
