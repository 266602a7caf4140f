// guide: ring

package main

import (
	"kernbench/algorithm"
	"kernbench/tl"
)

func ringSum(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	acc := c.Load(mine)
	current := acc
	for range c.WorldSize() - 1 {
		c.Send(tl.East, current)
		got := c.Recv(tl.West, acc.Shape(), acc.DType())
		acc = c.Combine(a.Op, acc, got) // add, multiply, max or min: what was asked for
		current = got                   // pass on what came, not the sum
	}
	c.Store(mine, c.Finish(a.Op, acc, c.WorldSize())) // avg divides here
}

var _ = algorithm.Register(algorithm.Algorithm{
	Name:       "ring_sum",
	Summary:    "the guide's ring",
	Collective: "all_reduce",
	Topology:   "ring_1d",
	Kernel:     ringSum,
	Steps:      "N-1",
	Cost:       "(N-1)(alpha + beta M)",
	Source:     "this guide",
})

// end
