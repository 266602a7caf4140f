// guide: doubled

package main

import (
	"kernbench/algorithm"
	"kernbench/tl"
)

func doubled(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	acc := c.Load(mine)
	for range c.WorldSize() - 1 {
		c.Send(tl.East, acc) // the sum so far, not what came
		acc = c.Combine(a.Op, acc, c.Recv(tl.West, acc.Shape(), acc.DType()))
	}
	c.Store(mine, c.Finish(a.Op, acc, c.WorldSize()))
}

var _ = algorithm.Register(algorithm.Algorithm{
	Name:       "doubled",
	Summary:    "the guide's wrong ring",
	Collective: "all_reduce",
	Topology:   "ring_1d",
	Kernel:     doubled,
	Steps:      "N-1",
	Cost:       "(N-1)(alpha + beta M)",
	Source:     "this guide",
})

// end
