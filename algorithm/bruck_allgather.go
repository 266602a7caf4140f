package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// bruckAllGather is recursive doubling for any number of ranks: in step k a rank sends all that
// it has to the rank 2^k before it, and appends what the one 2^k further on has. So it collects
// the vectors of itself and of those after it, in this order, and the last step takes as many as
// are missing. They come together in staging memory, and are turned into rank order at the end.
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

// BruckAllGather has the fewest steps, whatever the number of ranks.
var BruckAllGather = Register(Algorithm{
	Name:       "bruck_allgather",
	Summary:    "each rank takes what the ranks 1, 2, 4, ... further on have, and turns it into rank order: the fewest steps for any number of ranks",
	Collective: "all_gather",
	Topology:   "circulant",
	Kernel:     bruckAllGather,
	Window:     vectorsWindow,
	Steps:      "ceil(log2 N)",
	Cost:       "ceil(log2 N) alpha + (N-1) beta M: (N-1) M bytes per rank, and as many copied twice",
	Source:     "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8(11), 1997, sec. 4",
})
