package bench

import (
	"testing"

	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// The compare-and-swap barrier resets itself: under random delays no rank leaves a barrier before
// all ranks have arrived at it.
func TestCASBarrierIsReusable(t *testing.T) {
	const uses = 1000
	for _, world := range []int{2, 3} {
		layout, err := mem.NewLayout(0, []mem.Buffer{{Name: "sync", Parts: []mem.Part{mem.SignalPart("", mem.Int32, world)}}})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			come := make([]int, world)
			kernel := func(c *tl.Context, a tl.Args) {
				for use := 1; use <= uses; use++ {
					come[c.Rank()]++
					casBarrier(c, a)
					for r, n := range come {
						if n < use {
							t.Errorf("%d ranks, schedule %d: rank %d leaves use %d when rank %d has come %d times",
								world, seed, c.Rank(), use, r, n)
							return
						}
					}
				}
			}
			if _, err := kerneltest.Try(kernel, kerneltest.Config{World: world, Topology: "none", Layout: layout, Seed: seed}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
