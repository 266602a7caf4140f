package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// binomialReduce uses the tree of binomial broadcast in the opposite direction. A rank combines its
// vector with the partial results of its children, the leaf first. Then it sends the result to its
// parent. Long vectors are sent tile by tile.
func binomialReduce(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	up, children := topology.BinomialStep(r.number, r.n)
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

// BinomialReduce takes ceil(log2 N) steps, the minimum of a reduction.
var BinomialReduce = Register(Algorithm{
	Name:       "binomial_reduce",
	Summary:    "partial results go up a binomial tree: the fewest steps, for small vectors",
	Collective: "reduce",
	Topology:   "circulant",
	Kernel:     binomialReduce,
	KernelArgs: firstIsRoot,
	Path:       binomialTo,
	Steps:      "ceil(log2 N)",
	Cost:       "ceil(log2 N) (alpha + (beta + gamma) M): (N-1) M bytes in all",
	Source:     "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.5",
})
