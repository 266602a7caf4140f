package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// allPairsBarrier lets every rank notify every other rank: the barrier that the other
// kernels over windows have.
func allPairsBarrier(c *tl.Context, a tl.Args) {
	_, signals := scratch(c, a, 0)
	meshBarrier(c, row(c, signals, 0), a.Use(0))
}

// AllPairsBarrier has the fewest steps.
var AllPairsBarrier = Register(Algorithm{
	Name:       "allpairs_barrier",
	Summary:    "every rank notifies all others by words of a symmetric window: the fewest steps, the most notifications",
	Collective: "barrier",
	Topology:   "none",
	Kernel:     allPairsBarrier,
	Window: func(world, _ int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, 0, t, 1, meshRow(world))
	},
	Steps:  "1",
	Cost:   "alpha: N-1 notifications per rank",
	Source: "the barrier of the kernels of github.com/hw-native-sys/simpler",
})
