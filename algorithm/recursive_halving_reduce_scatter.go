package algorithm

import (
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// recursiveHalvingReduceScatter sends, to a partner at distance N/2, then N/4, ..., 1, that half
// of what a rank still works on which belongs to the partner's side, and adds what comes to the
// other. After each step a rank works on half as many chunks. It holds the vector in scratch
// memory, which must have room for it.
func recursiveHalvingReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	at := func(chunk int) int { // where a chunk begins, in elements
		if chunk == n {
			return a.NElem
		}
		return mem.ChunkOf(a.NElem, n, chunk).Lo
	}
	acc, first := c.Load(a.Shard(me)), 0 // of the chunks from first on
	for k := topology.Hops(n) - 1; k >= 0; k-- {
		middle := at(first+1<<k) - at(first)
		give, own := acc.Slice(middle, acc.Len()-middle), acc.Slice(0, middle)
		if me>>k&1 == 1 {
			give, own = own, give
			first += 1 << k
		}
		c.Send(tl.Dim(k), give)
		acc = c.Combine(a.Op, own, c.Recv(tl.Dim(k), own.Shape(), own.DType()))
	}
	c.Store(a.Out(me, acc.Len()), c.Finish(a.Op, acc, n))
}

// RecursiveHalvingReduceScatter has the fewest steps that a reduce-scatter can.
var RecursiveHalvingReduceScatter = Register(Algorithm{
	Name:       "recursive_halving_reduce_scatter",
	Summary:    "partners at distance N/2, ..., 2, 1 exchange halves and add: the fewest steps and bytes, for powers of two",
	Collective: "reduce_scatter",
	Topology:   "hypercube",
	Kernel:     recursiveHalvingReduceScatter,
	Check:      powerOfTwo,
	Constraint: "N a power of two",
	Steps:      "log2 N",
	Cost:       "log2(N) alpha + (N-1)/N (beta + gamma) M: (N-1)/N M bytes per rank",
	Source:     "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.2",
})
