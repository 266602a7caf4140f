package algorithm_test

import (
	"math/rand/v2"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
	"kernbench/unit"
)

// scene is one form of a launch of one group.
type scene struct {
	world, n       int
	typ            dtype.Type
	slots          int
	slotBytes      int64
	scratch        unit.Bytes
	chunk, latency int64
	place          place
	w              int                // of a grid
	levels, wired  []int              // that the kernel is given, and that its rings have; wired nil: the same
	south          func(rank int) int // what changes the columns of a grid, and back
	north          func(rank int) int
}

// place is where results go.
type place int

const (
	inPlace place = iota
	apart
	onto      // where contributions lie, in so many words
	oneOnto   // one of them only
	around    // contributions, each of which lies where an all-gather has it
	oneAround // one of them only
	anyPlace
)

// anyScene draws one for a row, in which counts often divide, or nearly do.
func anyScene(rng *rand.Rand, a *algorithm.Algorithm) scene {
	s := scene{
		world:     pick(rng, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 32, 36, 64),
		typ:       pick(rng, dtype.F16, dtype.F32, dtype.F64, dtype.I8),
		slots:     pick(rng, 1, 2, 4, 8),
		slotBytes: pick[int64](rng, 64, 512, 4096, 65536),
		scratch:   pick[unit.Bytes](rng, 64<<10, 1<<20, 4<<20),
		latency:   pick[int64](rng, 0, 1, 100, 4096, 1<<20),
		place:     place(rng.IntN(int(anyPlace))),
	}
	if rng.IntN(4) == 0 { // some algorithms are for powers of two
		s.world = pick(rng, 2, 4, 8, 16, 32, 64)
	}
	s.w = divisor(rng, s.world)
	unit := pick(rng, 1, max(1, s.world/2), max(1, s.world/4), s.world, 2*s.world, 4*s.world, 6*s.world, 8*s.world, s.w*s.world)
	if rng.IntN(4) == 0 { // more than one segment
		unit = (128 << 10) / s.typ.Size() * pick(rng, 1, s.w, min(s.w, s.world/s.w))
	}
	s.n = max(0, unit*pick(rng, 0, 1, 2, 3, 5, 8, 15)+pick(rng, 0, 0, 0, 1, -1, s.world, s.world/2, 2*s.world, 4*s.world))
	if rng.IntN(2) == 0 {
		s.chunk = max(64, int64(s.n*s.typ.Size()/pick(rng, 1, 2, 3, 8, s.world, 2*s.world, 3*s.world)))
	}
	if s.n*s.typ.Size() > 1<<20 { // in few pieces, as nothing depends on more of them
		s.scratch, s.chunk = 4<<20, 0
	}
	s.levels = someLevels(rng, s.world)
	switch rng.IntN(8) {
	case 0: // of another machine
		s.wired, s.levels = s.levels, someLevels(rng, s.world+1)
	case 1: // a grid whose columns are no columns
		step := 1 + rng.IntN(s.world)
		s.south = func(rank int) int { return (rank + step) % s.world }
		s.north = func(rank int) int { return (rank + s.world - step%s.world) % s.world }
	case 2:
		to, from := rng.Perm(s.world), make([]int, s.world)
		for r, p := range to {
			from[p] = r
		}
		s.south, s.north = func(rank int) int { return to[rank] }, func(rank int) int { return from[rank] }
	}
	return s
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// divisor is one of n.
func divisor(rng *rand.Rand, n int) int {
	for {
		if d := 1 + rng.IntN(n); n%d == 0 {
			return d
		}
	}
}

// someLevels are those of a world, innermost first.
func someLevels(rng *rand.Rand, world int) []int {
	var all []int
	for range rng.IntN(4) {
		d := divisor(rng, world)
		all, world = append(all, d), world/d
	}
	return all
}

// group returns the launch's group; ok is false where its rings cannot be.
func (s *scene) group(t *testing.T, a *algorithm.Algorithm) (g launch.Group, ok bool) {
	top, err := topology.Lookup(a.Topology)
	if err != nil {
		t.Fatal(err)
	}
	wired := s.wired
	if wired == nil {
		wired = s.levels
	}
	grid := topology.WithLevels(wired)
	grid.W = s.w
	neighbors := a.Neighbors
	if s.south != nil {
		if !top.Planar {
			return g, false
		}
		neighbors = func(rank, _ int, m map[tl.Dir]int) map[tl.Dir]int {
			m[tl.South], m[tl.North] = s.south(rank), s.north(rank)
			return m
		}
	}
	g.Wiring, err = top.Wire(s.world, grid, neighbors)
	if err != nil {
		return g, false
	}
	if a.Check != nil && a.Check(s.world, s.n) != nil {
		return g, false
	}
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	g.PEsPerCube = min(4, s.world)
	g.Args = tl.Args{DType: s.typ, NElem: s.n, ChunkBytes: s.chunk, LatencyBytes: s.latency, Levels: s.levels}
	if a.KernelArgs != nil {
		g.Args.Ints = a.KernelArgs(s.world, s.n)
	}
	call := collective.Call{World: s.world, Elems: s.n, Type: s.typ}
	for r := range s.world {
		g.PEs = append(g.PEs, int32(r))
		shard := mem.At(mem.HBM, r, 1<<30)
		out := shard
		switch block := mem.Addr(r * s.n * s.typ.Size()); {
		case s.place == apart, s.place == oneOnto && r > 0, s.place == oneAround && r != s.world/2:
			out = mem.At(mem.HBM, r, 1<<20)
		case s.place == around, s.place == oneAround:
			out = shard - block
		}
		g.Args.Shards = append(g.Args.Shards, shard)
		if s.place != inPlace {
			g.Args.Outs, g.Args.OutElems = append(g.Args.Outs, out), append(g.Args.OutElems, co.Out(call, r))
		}
	}
	if a.Window == nil {
		return g, true
	}
	layout, err := a.Window(s.world, s.n, s.typ)
	if err != nil {
		t.Fatal(err)
	}
	team, err := mem.NewTeam("all", g.PEs)
	if err != nil {
		t.Fatal(err)
	}
	g.Args.Windows = []*mem.Window{mem.NewWindow("w", team, layout, 1<<32)}
	return g, true
}

// setup returns what a rank of it is given.
func (s *scene) setup(core tl.Core, g *launch.Group, rank int) tl.Setup {
	return tl.Setup{
		Core: core, Rank: rank, World: s.world, PE: rank, PEsPerCube: g.PEsPerCube, Wiring: &g.Wiring[rank],
		Addrs: &mem.Map{}, Scratch: s.scratch,
		Ring: &tl.Ring{Slots: s.slots, SlotBytes: s.slotBytes, Space: mem.TCM, Strict: true},
	}
}
