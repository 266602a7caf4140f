package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// bruckAllGather is recursive doubling for any number of ranks. In step k a rank sends all its
// vectors to the rank 2^k before it, and appends those of the rank 2^k further on. So it collects
// its own vector and those of the ranks after it, in this order; the last step takes the missing
// ones. They are collected in staging memory, and rotated into rank order at the end.
func bruckAllGather(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	have := staging(c, a, n*a.NElem)
	move(c, have.Chunk(n, 0), a.Shard(me))
	for k := range topology.Hops(n) {
		count := min(1<<k, n-1<<k)
		c.SendRef(topology.HopWest(k), run(have, n, 0, count))
		c.RecvTo(topology.HopEast(k), run(have, n, 1<<k, count))
	}
	for i := range n {
		move(c, a.OutBlock(me, n*a.NElem, n, (me+i)%n), have.Chunk(n, i))
	}
}

// BruckAllGather has the fewest steps for any number of ranks.
var BruckAllGather = Register(Algorithm{
	Name:       "bruck_allgather",
	Summary:    "each rank receives the vectors of the ranks at distance 1, 2, 4, ... and rotates them into rank order, in the fewest steps for any number of ranks",
	Collective: "all_gather",
	Topology:   "circulant",
	Kernel:     bruckAllGather,
	Window:     vectorsWindow,
	Steps:      "ceil(log2 N)",
	Cost:       "ceil(log2 N) alpha + (N-1) beta M: (N-1) M bytes sent per rank, and about as many copied into staging memory and out of it",
	Source:     "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8(11), 1997, sec. 4",
})
