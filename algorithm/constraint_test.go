package algorithm_test

import (
	"errors"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/kerneltest"
)

// conditions maps the text of a constraint to the condition that Check tests.
var conditions = map[string]func(world, n int) bool{
	"":                         func(int, int) bool { return true },
	"N a power of two":         func(world, _ int) bool { return world&(world-1) == 0 },
	"elements a multiple of N": func(world, n int) bool { return n%world == 0 },
}

// Check accepts exactly the calls that the text of Constraint describes.
func TestConstraintsAreThoseOfCheck(t *testing.T) {
	for _, a := range algorithm.All() {
		holds, known := conditions[a.Constraint]
		if !known {
			t.Errorf("%s: unknown constraint %q", a.Name, a.Constraint)
			continue
		}
		for world := 1; world <= 40; world++ {
			for n := range 90 {
				if got := a.Check == nil || a.Check(world, n) == nil; got != holds(world, n) {
					t.Fatalf("%s of %d ranks, %d elements: the constraint is %q, but Check accepts the call: %v", a.Name, world, n, a.Constraint, got)
				}
			}
		}
	}
}

func TestConstraints(t *testing.T) {
	for _, tt := range []struct {
		a    *algorithm.Algorithm
		want []string
	}{
		{algorithm.RecursiveDoublingAllGather, []string{"N a power of two", "N <= 65536"}},
		{algorithm.TorusAllReduce, []string{"N = w h", "n_slots >= 2"}},
		{algorithm.WindowAllGather, nil},
		{&algorithm.Algorithm{Topology: "none", Atomics: true}, []string{"fabric.p2p_native_atomics"}},
	} {
		if got := tt.a.Constraints(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.a.Name, got, tt.want)
		}
	}
}

// With one slot less than MinSlots an algorithm deadlocks for some number of ranks. If MinSlots is
// 0, it never deadlocks with one slot.
func TestSlotsNeeded(t *testing.T) {
	for _, a := range algorithm.All() {
		t.Run(a.Name, func(t *testing.T) {
			co, err := collective.Lookup(a.Collective)
			if err != nil {
				t.Fatal(err)
			}
			var hangs []int
			for _, world := range []int{2, 3, 4, 5, 8} {
				n := 64 * world
				if a.Check != nil && a.Check(world, n) != nil {
					continue
				}
				grid := someGrid(t, a, world)
				cfg := kerneltest.Config{
					World: world, Topology: a.Topology, W: grid.W, H: grid.H, Neighbors: a.Neighbors,
					Inputs: numbered(world, n), Slots: max(1, a.MinSlots-1), ChunkBytes: 256,
				}
				if co.Rooted {
					cfg.Args = []int{0}
				}
				if a.Window != nil {
					if cfg.Layout, err = a.Window(world, n, dtype.F32); err != nil {
						t.Fatal(err)
					}
				}
				if a.Window != nil || a.Collective != "all_reduce" && a.Collective != "shift" {
					cfg.OutElems = outElems(co, collective.Call{World: world, Elems: n, Type: dtype.F32})
				}
				_, err := kerneltest.Try(a.Kernel, cfg)
				var hang *fault.Deadlock
				if errors.As(err, &hang) {
					hangs = append(hangs, world)
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if (len(hangs) > 0) != (a.MinSlots > 0) {
				t.Errorf("MinSlots is %d; with %d slots the ranks deadlock in worlds of %v", a.MinSlots, max(1, a.MinSlots-1), hangs)
			}
		})
	}
}
