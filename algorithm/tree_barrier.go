package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// treeBarrier sends empty messages up a binary tree, each when those of the children have come,
// and then down again.
func treeBarrier(c *tl.Context, a tl.Args) {
	parent, children := topology.TreeStep(c.Rank(), c.WorldSize())
	come := c.Full(tl.Dims(0), a.DType, 0)
	for i := range children {
		c.Recv(tl.Child0+tl.Dir(i), come.Shape(), a.DType)
	}
	if parent >= 0 {
		c.Send(tl.Parent, come)
		c.Recv(tl.Parent, come.Shape(), a.DType)
	}
	for i := range children {
		c.Send(tl.Child0+tl.Dir(i), come)
	}
}

// TreeBarrier needs the fewest messages.
var TreeBarrier = Register(Algorithm{
	Name:       "tree_barrier",
	Summary:    "empty messages up a binary tree and down again: the fewest messages",
	Collective: "barrier",
	Topology:   "tree_binary",
	Kernel:     treeBarrier,
	Steps:      "2 floor(log2 N)",
	Cost:       "2 floor(log2 N) alpha: 2(N-1) messages in all",
	Source:     "the combining tree of Yew, Tzeng, Lawrie, Distributing hot-spot addressing in large-scale multiprocessors, IEEE Trans. Comput. 36(4), 1987, with messages",
})
