package race_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/check/race"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// observe judges a kernel on the mock executor, in as many passes as it takes.
func observe(tb testing.TB, k tl.Kernel, cfg kerneltest.Config) (r *race.Report, passes int) {
	tb.Helper()
	d := race.New(race.Options{Order: cfg.Order})
	for passes = 1; ; passes++ {
		c := cfg
		c.History = d.Log()
		if _, err := kerneltest.Observe(context.Background(), k, c); err != nil {
			tb.Fatal(err)
		}
		if r = d.Report(); !r.Again {
			return r, passes
		}
		d = d.Next()
	}
}

// No algorithm of the library has a hazard in any schedule that is tried, and by its class one run
// proves all.
func TestLibraryIsClean(t *testing.T) {
	for i, a := range algorithm.All() {
		t.Run(a.Name, func(t *testing.T) {
			for _, world := range []int{1, 2, 3, 4, 5, 8} {
				n := 8 * 15 * world
				if a.Check != nil && a.Check(world, n) != nil {
					continue
				}
				for seed := range uint64(4) {
					if !exhaustive.On() && seed > 0 && int(seed) != 1+(i+world)%3 {
						continue
					}
					cfg := libraryRun(t, a, world, n)
					cfg.Seed = seed
					rep, passes := observe(t, a.Kernel, cfg)
					if rep.Total > 0 || rep.Unsettled {
						t.Fatalf("%d ranks, schedule %d: %v", world, seed, rep)
					}
					if passes > 1 {
						t.Errorf("%d ranks, schedule %d: %d passes: one must do for words of one writer", world, seed, passes)
					}
					if want := race.Directed; a.Window == nil && rep.Class != want && len(rep.Depends) == 0 {
						t.Errorf("%d ranks: class %v, want %v", world, rep.Class, want)
					}
					if a.Window != nil && a.Topology == "none" && rep.Class == race.Directed && world > 1 {
						t.Errorf("%d ranks: class %v though it has a window and no rings", world, rep.Class)
					}
				}
			}
		})
	}
}

// libraryRun returns a call of an algorithm.
func libraryRun(tb testing.TB, a *algorithm.Algorithm, world, n int) kerneltest.Config {
	tb.Helper()
	in := make([][]float64, world)
	for r := range in {
		in[r] = make([]float64, n)
	}
	cfg := kerneltest.Config{
		World: world, Topology: a.Topology, Neighbors: a.Neighbors, Inputs: in, DType: dtype.F32, Order: mem.PutSignal,
	}
	if strings.HasPrefix(a.Topology, "mesh") || strings.HasPrefix(a.Topology, "torus") {
		cfg.W, cfg.H = world, 1
	}
	if a.KernelArgs != nil {
		cfg.Args = a.KernelArgs(world, n)
	}
	if a.Window != nil {
		var err error
		if cfg.Layout, err = a.Window(world, n, dtype.F32); err != nil {
			tb.Fatal(err)
		}
	}
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		tb.Fatal(err)
	}
	call := collective.Call{World: world, Elems: n, Type: dtype.F32}
	outs := make([]int, world)
	for r := range outs {
		outs[r] = co.Out(call, r)
	}
	if a.Window != nil || slices.Max(outs) > n {
		cfg.OutElems = outs // not all kernels on rings know a place apart
	}
	return cfg
}
