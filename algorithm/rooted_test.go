package algorithm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// withRoot lists the algorithms of collectives that have a root.
func withRoot(t *testing.T) []*algorithm.Algorithm {
	return slices.DeleteFunc(algorithm.All(), func(a *algorithm.Algorithm) bool {
		co, err := collective.Lookup(a.Collective)
		if err != nil {
			t.Fatal(err)
		}
		return !co.Rooted
	})
}

// Any rank can be the root, in any world.
func TestRoots(t *testing.T) {
	for _, a := range withRoot(t) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for _, world := range []int{1, 2, 3, 4, 6, 7, 9, 16} {
				for root := range world {
					if !exhaustive.On() && root > 1 && root != world/2 && root != world-1 {
						continue
					}
					for _, n := range []int{1, 5} {
						t.Run(fmt.Sprintf("%d/%d/%d", world, root, n), func(t *testing.T) {
							check(t, a, run{size: size{world: world, n: n * world}, typ: dtype.F16, op: tl.Avg, args: []int{root}})
						})
					}
				}
			}
		})
	}
}

// An invalid root, or an unsupported number of ranks, is an error before any rank waits.
func TestRootedRefusals(t *testing.T) {
	for _, a := range withRoot(t) {
		if a == algorithm.WindowBroadcast {
			continue // refuses a root with another error
		}
		for _, root := range []int{-1, 3} {
			cfg := kerneltest.Config{Topology: a.Topology, Inputs: numbered(3, 6), Args: []int{root}, OutElems: []int{18, 18, 18}}
			if a.Window != nil {
				var err error
				if cfg.Layout, err = a.Window(3, 6, dtype.F32); err != nil {
					t.Fatal(err)
				}
			}
			_, err := kerneltest.Try(a.Kernel, cfg)
			if want := fmt.Sprintf("root %d of 3 ranks: the root is one of 0 to 2", root); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to contain %q", a.Name, err, want)
			}
		}
	}
	for _, a := range []*algorithm.Algorithm{algorithm.RecursiveDoublingAllGather,
		algorithm.RecursiveHalvingReduceScatter, algorithm.HypercubeExchange} {
		for world, ok := range map[int]bool{0: false, 1: true, 2: true, 3: false, 6: false, 64: true, -4: false} {
			if err := a.Check(world, 5); (err == nil) != ok || !ok && !strings.Contains(err.Error(), "must be a power of two") {
				t.Errorf("%s of %d ranks: %v", a.Name, world, err)
			}
		}
	}
}
