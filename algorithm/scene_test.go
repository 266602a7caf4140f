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

// scene describes a launch of one group.
type scene struct {
	world, n       int
	typ            dtype.Type
	slots          int
	slotBytes      int64
	scratch        unit.Bytes
	chunk, latency int64
	place          place
	w              int                // of a grid
	levels, wired  []int              // levels of the kernel's arguments, and of its rings; wired nil: the same
	south          func(rank int) int // replaces the south neighbour in a grid; north is its inverse
	north          func(rank int) int
}

// place is the memory of the results.
type place int

const (
	inPlace place = iota
	apart
	onto      // in place, but with explicit addresses
	oneOnto   // as onto for rank 0, as apart for the others
	around    // the result contains the contribution, as in an all-gather in place
	oneAround // as around for one rank, as apart for the others
	anyPlace
)

// anyScene returns a random scene. The ranks often divide the count, or almost.
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
	if s.n*s.typ.Size() > 1<<20 { // few pieces are enough
		s.scratch, s.chunk = 4<<20, 0
	}
	s.levels = someLevels(rng, s.world)
	switch rng.IntN(8) {
	case 0: // rings of another machine
		s.wired, s.levels = s.levels, someLevels(rng, s.world+1)
	case 1: // the south neighbour is step ranks further
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

// divisor returns a random divisor of n.
func divisor(rng *rand.Rand, n int) int {
	for {
		if d := 1 + rng.IntN(n); n%d == 0 {
			return d
		}
	}
}

// someLevels returns random levels of a world, innermost first.
func someLevels(rng *rand.Rand, world int) []int {
	var all []int
	for range rng.IntN(4) {
		d := divisor(rng, world)
		all, world = append(all, d), world/d
	}
	return all
}

// group returns the launch's group. ok is false if the topology or the algorithm does not support
// the scene.
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

// setup returns the setup of a rank of the group.
func (s *scene) setup(core tl.Core, g *launch.Group, rank int) tl.Setup {
	return tl.Setup{
		Core: core, Rank: rank, World: s.world, PE: rank, PEsPerCube: g.PEsPerCube, Wiring: &g.Wiring[rank],
		Addrs: &mem.Map{}, Scratch: s.scratch,
		Ring: &tl.Ring{Slots: s.slots, SlotBytes: s.slotBytes, Space: mem.TCM, Strict: true},
	}
}
