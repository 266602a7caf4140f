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

// slotBytes is the size of a ring slot in these tests: small, so that counts beyond it
// stay cheap.
const slotBytes = 512

var worlds = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 32}

// counts are element counts that do not divide, are fewer than the ranks, fill a slot or
// several. Where each rank gets a block, they are those of a block.
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

// grids lists the shapes of a world of ranks that a topology has.
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

// someGrid is the shape in the middle of them, or none.
func someGrid(t *testing.T, a *algorithm.Algorithm, world int) topology.Grid {
	t.Helper()
	gs := grids(t, a.Topology, world)
	return gs[len(gs)/2]
}

// inputs are small numbers without exact partners, so that a lost or doubled contribution changes a
// sum. Integers are small enough to be exact in every type.
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

// ops lists the operations that an algorithm can be asked for.
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
	args  []int // numbers of the launch; nil: those that the row makes
	cube  int   // ranks that share one; 0: all
	chunk int64 // bytes of a pipeline's pieces; 0: as it finds best
	slots int   // of each ring; 0: two
	apart bool  // results do not replace contributions
	seed  uint64
}

// call is what is asked of the collective.
func (x *run) call(co *collective.Collective, args []int) collective.Call {
	c := collective.Call{World: x.world, Elems: x.n, Type: x.typ, Op: x.op}
	if co.Rooted {
		c.Root = args[0]
	}
	return c
}

// judge runs an algorithm and asks what its collective means of the result.
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

// outElems are the elements that each rank ends with.
func outElems(co *collective.Collective, c collective.Call) []int {
	ns := make([]int, c.World)
	for r := range ns {
		ns[r] = co.Out(c, r)
	}
	return ns
}

// places are where results of a run may be. They are in the place of the contributions, which is
// all that some kernels on rings support, or out of place.
func places(t *testing.T, a *algorithm.Algorithm, x run) (apart []bool) {
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
	for _, x.apart = range places(t, a, x) {
		v, err := judge(a, x)
		if err != nil {
			t.Fatal(err)
		}
		if !v.OK() || v.Values.Status != verify.OK || v.Provenance.Status != verify.OK && !a.Idempotent {
			t.Fatalf("results apart: %v: provenance %v, values %v\n%v", x.apart, v.Provenance, v.Values, v.Failures)
		}
	}
}

func TestConformanceSizes(t *testing.T) {
	for _, a := range algorithm.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for _, s := range someSizes(t, a, dtype.F32) {
				t.Run(s.String(), func(t *testing.T) { check(t, a, run{size: s, typ: dtype.F32, op: tl.Sum}) })
			}
		})
	}
}

// Every executor runs the library, as far as its capabilities allow; those that come with
// kernbench have all that it needs.
func TestConformanceOnExecutors(t *testing.T) {
	if len(exec.All()) < 2 {
		t.Fatalf("only %q are registered", exec.Names())
	}
	for _, x := range exec.All() {
		t.Run(x.Name, func(t *testing.T) {
			c := conformance.Run(t, x, exhaustive.On())
			if least := 5 * len(algorithm.All()); c.Ran < least || len(c.Skipped) > 0 {
				t.Errorf("%d cases ran and %v were skipped; at least %d, and none", c.Ran, c.Skipped, least)
			}
		})
	}
}

// Types and operations by pairs: every type meets every operation, with sizes that go
// through the lists beside them. With -exhaustive, every size too.
func TestConformanceTypesAndOps(t *testing.T) {
	for _, a := range algorithm.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			k := 0
			for _, typ := range dtype.Types() {
				for _, op := range ops(t, a) {
					for _, s := range sizes(t, a, typ, k) {
						t.Run(fmt.Sprintf("%v/%v/%v", typ, op, s), func(t *testing.T) {
							check(t, a, run{size: s, typ: typ, op: op})
						})
					}
					k++
				}
			}
		})
	}
}

// size is one shape of a run.
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

// someSizes lists the small worlds with every count, on every grid, or all sizes. Larger worlds
// come with the types and operations.
func someSizes(t *testing.T, a *algorithm.Algorithm, typ dtype.Type) []size {
	return slices.DeleteFunc(allSizes(t, a, typ), func(s size) bool {
		return !exhaustive.On() && !slices.Contains([]int{1, 2, 3, 5, 8}, s.world)
	})
}

// sizes is the k-th sample of all sizes, or all.
func sizes(t *testing.T, a *algorithm.Algorithm, typ dtype.Type, k int) []size {
	if exhaustive.On() {
		return allSizes(t, a, typ)
	}
	world := worlds[k%len(worlds)]
	ns := counts(t, a, world, typ)
	gs := grids(t, a.Topology, world)
	return []size{{world, ns[k%len(ns)], gs[k%len(gs)]}}
}
