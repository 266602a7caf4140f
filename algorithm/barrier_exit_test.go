package algorithm_test

import (
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// No rank leaves a barrier before all ranks have arrived, also if the barrier is repeated.
func TestNoRankLeavesABarrierEarly(t *testing.T) {
	const rounds = 5
	for _, a := range algorithm.All() {
		if a.Collective != "barrier" {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			for _, world := range []int{1, 2, 3, 5, 8, 9} {
				for seed := range uint64(10) {
					cfg := kerneltest.Config{World: world, Topology: a.Topology, Seed: seed}
					if a.Window != nil {
						var err error
						if cfg.Layout, err = a.Window(world, 0, dtype.F32); err != nil {
							t.Fatal(err)
						}
					}
					arrivals := make([]int, world) // by rank; only one rank runs at a time, so all may read it
					kernel := func(c *tl.Context, args tl.Args) {
						args.Uses = make([]int, 2*world)
						for round := range rounds {
							arrivals[c.Rank()]++
							a.Kernel(c, args)
							if slices.Min(arrivals) <= round {
								t.Errorf("%d ranks, seed %d: rank %d leaves round %d, arrivals by rank %v",
									world, seed, c.Rank(), round, arrivals)
							}
						}
					}
					if _, err := kerneltest.Try(kernel, cfg); err != nil {
						t.Fatal(err)
					}
					if slices.Min(arrivals) != rounds {
						t.Errorf("%d ranks, seed %d: arrivals by rank %v, want %d each", world, seed, arrivals, rounds)
					}
				}
			}
		})
	}
}
