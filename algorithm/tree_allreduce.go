package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// treeAllReduce reduces up a binary tree and broadcasts down it. Every rank waits for its
// children's sums, sends its own up, and forwards the result down.
func treeAllReduce(c *tl.Context, a tl.Args) {
	parent, children := topology.TreeStep(c.Rank(), c.WorldSize())
	for mine, out := range segments(&a, c.Rank(), 1) {
		acc := c.Load(mine)
		for i := range children {
			acc = c.Combine(a.Op, acc, c.Recv(tl.Child0+tl.Dir(i), acc.Shape(), acc.DType()))
		}
		if parent < 0 {
			acc = c.Finish(a.Op, acc, c.WorldSize())
		} else {
			c.Send(tl.Parent, acc)
			acc = c.Recv(tl.Parent, acc.Shape(), acc.DType())
		}
		for i := range children {
			c.Send(tl.Child0+tl.Dir(i), acc)
		}
		c.Store(out, acc)
	}
}

// TreeAllReduce reduces and broadcasts on a binary tree.
var TreeAllReduce = Register(Algorithm{
	Name:       "tree_allreduce",
	Summary:    "a binary tree is reduced upwards and the result broadcast downwards: the fewest steps for small vectors",
	Collective: "all_reduce",
	Topology:   "tree_binary",
	Kernel:     treeAllReduce,
	Path:       treeAndBack,
	Steps:      "2 floor(log2 N)",
	Cost:       "2 floor(log2 N) (alpha + 2 beta M): 2(N-1) M bytes in all",
	Source:     "reduce and broadcast on a binary tree: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19(1), 2005, compares it",
})
