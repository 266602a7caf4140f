package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// binomialBroadcast doubles in each step the number of ranks that have the vector. A rank that has
// it sends it to its children, the one with the most ranks below it first. Long vectors are sent
// tile by tile.
func binomialBroadcast(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	up, children := topology.BinomialStep(r.number, r.n)
	mine, out := a.Shard(me), a.Out(me, a.NElem)
	for lo, length := range tiles(a.NElem, a.DType) {
		var v tl.Tensor
		if up < 0 {
			v = c.Load(mine.Slice(lo, length))
		} else {
			v = c.Recv(topology.HopWest(up), tl.Dims(length), a.DType)
		}
		for k := children - 1; k >= 0; k-- {
			c.Send(topology.HopEast(k), v)
		}
		c.Store(out.Slice(lo, length), v)
	}
}

// BinomialBroadcast has the fewest steps that a broadcast can.
var BinomialBroadcast = Register(Algorithm{
	Name:       "binomial_broadcast",
	Summary:    "each rank that has the vector sends it on, down a binomial tree: the fewest steps, for small vectors",
	Collective: "broadcast",
	Topology:   "circulant",
	Kernel:     binomialBroadcast,
	KernelArgs: firstIsRoot,
	Path:       binomialFrom,
	Steps:      "ceil(log2 N)",
	Cost:       "ceil(log2 N) (alpha + beta M): (N-1) M bytes in all",
	Source:     "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.3",
})
