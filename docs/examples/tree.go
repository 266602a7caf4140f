// guide: tree

package main

import (
	"kernbench/tl"
	"kernbench/topology"
)

func treeSum(c *tl.Context, a tl.Args) {
	parent, children := topology.TreeStep(c.Rank(), c.WorldSize())
	mine := a.Shard(c.Rank())
	acc := c.Load(mine)
	for i := range children {
		acc = c.Add(acc, c.Recv(tl.Child0+tl.Dir(i), acc.Shape(), acc.DType()))
	}
	if parent >= 0 {
		c.Send(tl.Parent, acc)
		acc = c.Recv(tl.Parent, acc.Shape(), acc.DType())
	}
	for i := range children {
		c.Send(tl.Child0+tl.Dir(i), acc)
	}
	c.Store(mine, acc)
}

// end
