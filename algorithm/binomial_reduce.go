package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// binomialReduce is the tree of a broadcast reversed. A rank adds the sums of its children,
// beginning with the one without children, and sends the result to its parent. Long vectors are
// sent tile by tile.
func binomialReduce(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	up, children := topology.BinomialStep(r.me, r.n)
	for lo, length := range tiles(a.NElem, a.DType) {
		acc := c.Load(a.Shard(me).Slice(lo, length))
		for k := range children {
			acc = c.Combine(a.Op, acc, c.Recv(topology.HopEast(k), acc.Shape(), acc.DType()))
		}
		if up < 0 {
			c.Store(a.Out(me, a.NElem).Slice(lo, length), c.Finish(a.Op, acc, r.n))
		} else {
			c.Send(topology.HopWest(up), acc)
		}
	}
}

// BinomialReduce has the fewest steps that a reduction can.
var BinomialReduce = Register(Algorithm{
	Name:       "binomial_reduce",
	Summary:    "sums come together up a binomial tree: the fewest steps, for small vectors",
	Collective: "reduce",
	Topology:   "circulant",
	Kernel:     binomialReduce,
	KernelArgs: firstIsRoot,
	Path:       binomialTo,
	Steps:      "ceil(log2 N)",
	Cost:       "ceil(log2 N) (alpha + (beta + gamma) M): (N-1) M bytes in all",
	Source:     "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.5",
})
