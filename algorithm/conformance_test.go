package algorithm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/check/verify"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/kerneltest/conformance"
	"kernbench/tl"
	"kernbench/topology"
)

// slotBytes is the size of a ring slot in these tests. It is small, so that messages of several
// slots stay cheap.
const slotBytes = 512

var worlds = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 32}

// counts returns element counts: none, fewer than the ranks, not divisible by them, and more than a
// slot holds. For a collective on blocks each count is the length of a block, multiplied by the
// number of ranks.
func counts(t *testing.T, a *algorithm.Algorithm, world int, typ dtype.Type) []int {
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	ns := []int{0, 1, 2, 7, 8, 64, 100, 3*slotBytes/typ.Size() + 1}
	if co.Blocks {
		for i := range ns {
			ns[i] *= world
		}
	}
	return ns
}

// grids lists the grid shapes of a topology for world ranks. A topology without a grid has one
// empty shape.
func grids(t *testing.T, name string, world int) []topology.Grid {
	top, err := topology.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if !top.Planar {
		return []topology.Grid{{}}
	}
	var gs []topology.Grid
	for w := 1; w <= world; w++ {
		if world%w == 0 {
			gs = append(gs, topology.Grid{W: w, H: world / w})
		}
	}
	return gs
}

// someGrid returns the grid shape in the middle of the list.
func someGrid(t *testing.T, a *algorithm.Algorithm, world int) topology.Grid {
	t.Helper()
	gs := grids(t, a.Topology, world)
	return gs[len(gs)/2]
}

// inputs returns small random numbers, so that a lost or doubled contribution changes a sum.
// Integers are small enough to be exact in every type.
func inputs(world, n int, t dtype.Type, op tl.ReduceOp) [][]float64 {
	rng := rand.New(rand.NewPCG(uint64(world), uint64(n)))
	in := make([][]float64, world)
	for r := range in {
		in[r] = make([]float64, n)
		for i := range in[r] {
			switch {
			case t.IsInt():
				in[r][i] = float64(rng.IntN(7) + 1)
			case op == tl.Prod:
				in[r][i] = 0.5 + rng.Float64()
			default:
				in[r][i] = rng.Float64()*4 - 1
			}
		}
	}
	return in
}

// ops lists the reductions that an algorithm is tested with.
func ops(t *testing.T, a *algorithm.Algorithm) []tl.ReduceOp {
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	if !co.Reduces {
		return []tl.ReduceOp{tl.Sum}
	}
	return tl.ReduceOps()
}

// run is one run of an algorithm on the mock.
type run struct {
	size
	typ   dtype.Type
	op    tl.ReduceOp
	args  []int // launch arguments; nil: KernelArgs of the algorithm
	cube  int   // ranks per cube; 0: all
	chunk int64 // bytes of a pipeline's pieces; 0: the algorithm's default
	slots int   // slots per ring; 0: two
	apart bool  // results do not replace contributions
	turn  int   // above 0: one placement of results, in turn; 0: all
	seed  uint64
}

// call returns the collective call that the run makes.
func (x *run) call(co *collective.Collective, args []int) collective.Call {
	c := collective.Call{World: x.world, Elems: x.n, Type: x.typ, Op: x.op}
	if co.Rooted {
		c.Root = args[0]
	}
	return c
}

// judge runs an algorithm and verifies its result.
func judge(a *algorithm.Algorithm, x run) (*verify.Verdict, error) {
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		return nil, err
	}
	cfg := kerneltest.Config{
		World: x.world, Topology: a.Topology, W: x.grid.W, H: x.grid.H, Neighbors: a.Neighbors,
		Inputs: inputs(x.world, x.n, x.typ, x.op), DType: x.typ, Op: x.op, SlotBytes: slotBytes, Slots: 2,
		Seed: x.seed, ChunkBytes: x.chunk, PEsPerCube: x.cube,
	}
	if x.slots > 0 {
		cfg.Slots = x.slots
	}
	if cfg.Args = x.args; x.args == nil && a.KernelArgs != nil {
		cfg.Args = a.KernelArgs(x.world, x.n)
	}
	if a.Window != nil {
		if cfg.Layout, err = a.Window(x.world, x.n, x.typ); err != nil {
			return nil, err
		}
	}
	call := x.call(co, cfg.Args)
	if x.apart {
		cfg.OutElems = outElems(co, call)
	}
	out, err := kerneltest.Observe(context.Background(), a.Kernel, cfg)
	if err != nil {
		return nil, err
	}
	in := verify.Input{
		Collective: co, Hasher: out.Hasher, Call: call,
		In:        func(rank int) []byte { return out.In[rank][:co.In(call, rank)*x.typ.Size()] },
		Out:       func(rank int) []byte { return out.Out[rank][:co.Out(call, rank)*x.typ.Size()] },
		Prov:      func(rank int) collective.Prov { return collective.Slice(nil, out.Prov[rank], 0, co.Out(call, rank)) },
		Operation: out.Operation, Overflow: out.Overflow,
	}
	if a.Idempotent {
		in.Prov, in.NotApplicable = nil, "the algorithm may count contributions twice"
	}
	return verify.Check(in)
}

// outElems returns the number of result elements of each rank.
func outElems(co *collective.Collective, c collective.Call) []int {
	ns := make([]int, c.World)
	for r := range ns {
		ns[r] = co.Out(c, r)
	}
	return ns
}

// placements returns the values of run.apart to test. Some kernels on rings support results in
// place only.
func placements(t *testing.T, a *algorithm.Algorithm, x run) []bool {
	if a.Window == nil && (a.Collective == "all_reduce" || a.Collective == "shift") {
		return []bool{false}
	}
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	if co.Apart || slices.Max(outElems(co, x.call(co, append(slices.Clone(x.args), 0)))) > x.n {
		return []bool{true}
	}
	return []bool{false, true}
}

func check(t *testing.T, a *algorithm.Algorithm, x run) {
	t.Helper()
	if a.Refuses(collective.Call{World: x.world, Elems: x.n, Type: x.typ, Op: x.op}) != nil {
		return
	}
	places := placements(t, a, x)
	if x.turn > 0 {
		places = places[x.turn%len(places):][:1]
	}
	for _, x.apart = range places {
		v, err := judge(a, x)
		if err != nil {
			t.Fatal(err)
		}
		if !v.OK() || v.Values.Status != verify.OK || v.Provenance.Status != verify.OK && !a.Idempotent {
			t.Fatalf("results apart %v: provenance %v, values %v\n%v", x.apart, v.Provenance, v.Values, v.Failures)
		}
	}
}

func TestConformanceSizes(t *testing.T) {
	for _, a := range algorithm.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for i, s := range someSizes(t, a, dtype.F32) {
				t.Run(s.String(), func(t *testing.T) {
					turn := i + 1
					if exhaustive.On() {
						turn = 0
					}
					check(t, a, run{size: s, typ: dtype.F32, op: tl.Sum, turn: turn})
				})
			}
		})
	}
}

// Every executor runs the algorithms that its capabilities allow. The executors of kernbench run
// all of them.
func TestConformanceOnExecutors(t *testing.T) {
	if len(exec.All()) < 2 {
		t.Fatalf("%q are registered, want at least two executors", exec.Names())
	}
	for _, x := range exec.All() {
		t.Run(x.Name, func(t *testing.T) {
			c := conformance.Run(t, x, exhaustive.On())
			if least := 5 * len(algorithm.All()); c.Ran < least || len(c.Skipped) > 0 {
				t.Errorf("%d cases ran and %v were skipped, want at least %d cases and none skipped", c.Ran, c.Skipped, least)
			}
		})
	}
}

// Every type is tested with every reduction. Each pair takes the next world, count and grid of the
// lists. With -exhaustive every type and every reduction is tested at every size, and each pair at
// one of as many sizes as there are reductions. What is only copied is tested with one type of each
// width at every size, as kernels see nothing else of a type.
func TestConformanceTypesAndOps(t *testing.T) {
	all := exhaustive.On()
	for _, a := range algorithm.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			ops, widths := ops(t, a), map[int]bool{}
			k := 0
			for i, typ := range dtype.Types() {
				for j, op := range ops {
					ss, turn := []size{sample(t, a, typ, k)}, k+1
					if all {
						turn = 0
					}
					if all && (len(ops) > 1 || !widths[typ.Size()]) {
						ss = everyNth(allSizes(t, a, typ), i+j, len(ops))
					}
					for _, s := range ss {
						t.Run(fmt.Sprintf("%v/%v/%v", typ, op, s), func(t *testing.T) {
							check(t, a, run{size: s, typ: typ, op: op, turn: turn})
						})
					}
					k++
				}
				widths[typ.Size()] = true
			}
		})
	}
}

// everyNth returns those of all whose index is k modulo n.
func everyNth(all []size, k, n int) (some []size) {
	for i := k % n; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// size is the number of ranks and elements of a run, and its grid.
type size struct {
	world, n int
	grid     topology.Grid
}

func (s size) String() string {
	if s.grid.W > 0 {
		return fmt.Sprintf("world=%dx%d/n=%d", s.grid.W, s.grid.H, s.n)
	}
	return fmt.Sprintf("world=%d/n=%d", s.world, s.n)
}

// allSizes lists every world with every count, on every grid of the topology.
func allSizes(t *testing.T, a *algorithm.Algorithm, typ dtype.Type) []size {
	var all []size
	for _, world := range worlds {
		for _, g := range grids(t, a.Topology, world) {
			for _, n := range counts(t, a, world, typ) {
				all = append(all, size{world, n, g})
			}
		}
	}
	return all
}

// someSizes lists every count on every grid of some small worlds. TestConformanceTypesAndOps covers
// larger worlds.
func someSizes(t *testing.T, a *algorithm.Algorithm, typ dtype.Type) []size {
	return slices.DeleteFunc(allSizes(t, a, typ), func(s size) bool {
		return !slices.Contains([]int{1, 2, 3, 5, 8}, s.world)
	})
}

// sample returns the k-th sample of all sizes.
func sample(t *testing.T, a *algorithm.Algorithm, typ dtype.Type, k int) size {
	world := worlds[k%len(worlds)]
	ns := counts(t, a, world, typ)
	gs := grids(t, a.Topology, world)
	return size{world, ns[k%len(ns)], gs[k%len(gs)]}
}
