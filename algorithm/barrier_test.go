package algorithm

import (
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// A barrier can be used any number of times. Under random delays no rank leaves a use before the
// ranks that it waits for have arrived.
func TestBarriersAreReusable(t *testing.T) {
	const world, uses = 4, 1000
	layout, err := scratchLayout(world, 1, dtype.F32, 1, meshRow(world))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []struct {
		name     string
		barrier  func(c *tl.Context, row tl.Signal, use int)
		waitsFor func(rank int) []int
	}{
		{"mesh", meshBarrier, func(int) []int { return []int{0, 1, 2, 3} }},
		{"neighbour", func(c *tl.Context, row tl.Signal, use int) {
			notify(c, row.At(fromLeft), (c.Rank()+1)%world)
			awaitWord(c, row.At(fromLeft), use)
		}, func(rank int) []int { return []int{(rank + world - 1) % world} }},
	} {
		for seed := range uint64(3) {
			arrivals := make([]int, world)
			kernel := func(c *tl.Context, a tl.Args) {
				_, signals := scratch(c, a, 1)
				for use := 1; use <= uses; use++ {
					arrivals[c.Rank()]++
					b.barrier(c, row(c, signals, 0), use)
					for _, r := range b.waitsFor(c.Rank()) {
						if arrivals[r] < use {
							t.Errorf("%s, schedule %d: rank %d leaves use %d, arrivals by rank %v", b.name,
								seed, c.Rank(), use, arrivals)
							return
						}
					}
				}
			}
			if _, err := kerneltest.Try(kernel, kerneltest.Config{World: world, Topology: "none", Layout: layout, Seed: seed}); err != nil {
				t.Fatal(err)
			}
			if slices.Min(arrivals) != uses {
				t.Errorf("%s, schedule %d: arrivals by rank %v, want %d each", b.name, seed, arrivals, uses)
			}
		}
	}
}
