package algorithm

import (
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// Barriers can be used any number of times: under random delays no rank leaves one before all
// have come to it as often.
func TestBarriersAreReusable(t *testing.T) {
	const world, uses = 4, 1000
	layout, err := scratchLayout(world, 1, dtype.F32, 1, meshRow(world))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []struct {
		name string
		meet func(c *tl.Context, row tl.Signal, use int)
		with func(rank int) []int // ranks that must have come
	}{
		{"mesh", meshBarrier, func(int) []int { return []int{0, 1, 2, 3} }},
		{"neighbour", func(c *tl.Context, row tl.Signal, use int) {
			tell(c, row.At(fromLeft), (c.Rank()+1)%world)
			awaitWord(c, row.At(fromLeft), use)
		}, func(rank int) []int { return []int{(rank + world - 1) % world} }},
	} {
		for seed := range uint64(3) {
			come := make([]int, world)
			kernel := func(c *tl.Context, a tl.Args) {
				_, signals := scratch(c, a, 1)
				for use := 1; use <= uses; use++ {
					come[c.Rank()]++
					b.meet(c, row(c, signals, 0), use)
					for _, r := range b.with(c.Rank()) {
						if come[r] < use {
							t.Errorf("%s, schedule %d: rank %d leaves use %d when all have come %v times", b.name,
								seed, c.Rank(), use, come)
							return
						}
					}
				}
			}
			if _, err := kerneltest.Try(kernel, kerneltest.Config{World: world, Topology: "none", Layout: layout, Seed: seed}); err != nil {
				t.Fatal(err)
			}
			if slices.Min(come) != uses {
				t.Errorf("%s, schedule %d: came %v times", b.name, seed, come)
			}
		}
	}
}
