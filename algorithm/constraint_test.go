package algorithm_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/kerneltest"
)

// asked are the constraints that Check knows, by what is said of them.
var asked = map[string]func(world, n int) bool{
	"":                         func(int, int) bool { return true },
	"N a power of two":         func(world, _ int) bool { return world&(world-1) == 0 },
	"elements a multiple of N": func(world, n int) bool { return n%world == 0 },
}

// What is said of an algorithm's constraints is what Check asks for.
func TestConstraintsAreThoseOfCheck(t *testing.T) {
	for _, a := range algorithm.All() {
		holds, known := asked[a.Constraint]
		if !known {
			t.Errorf("%s: unknown constraint %q", a.Name, a.Constraint)
			continue
		}
		for world := 1; world <= 40; world++ {
			for n := range 90 {
				if got := a.Check == nil || a.Check(world, n) == nil; got != holds(world, n) {
					t.Fatalf("%s of %d ranks, %d elements: %q, and Check says %v", a.Name, world, n, a.Constraint, got)
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

// With one slot those algorithms, and no others, can come to wait for ever that are said to need
// more.
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
				t.Errorf("needs %d slots, it is said; with one it hangs for %s ranks", a.MinSlots, fmt.Sprint(hangs))
			}
		})
	}
}
