package algorithm_test

import (
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// No rank leaves a barrier before all have arrived, however often they meet.
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
					come := make([]int, world) // ranks take turns, so that one may look at all
					kernel := func(c *tl.Context, args tl.Args) {
						args.Uses = make([]int, 2*world)
						for round := range rounds {
							come[c.Rank()]++
							a.Kernel(c, args)
							if least := slices.Min(come); least <= round {
								t.Errorf("%d ranks, seed %d: rank %d leaves round %d when they have come %v times",
									world, seed, c.Rank(), round, come)
							}
						}
					}
					if _, err := kerneltest.Try(kernel, cfg); err != nil {
						t.Fatal(err)
					}
					if slices.Min(come) != rounds {
						t.Errorf("%d ranks, seed %d: they have come %v times", world, seed, come)
					}
				}
			}
		})
	}
}
