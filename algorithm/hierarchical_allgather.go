package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// hierarchicalAllGather handles the levels of the machine from the outside in. First every PE reads
// the vectors of the PEs at its place in the other cubes. So each vector crosses to each cube once,
// and all PEs work at the same time. Then it reads the vectors that the PEs of its own cube have
// collected. Levels are those of hierarchicalAllReduce, and take the same numbers.
//
// Ranks keep their vectors until all of the group have reached the next level, or the next call.
func hierarchicalAllGather(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, n*a.NElem)
	o := levelOrderOf(levelWidths(c, a), n, func(int) int { return a.NElem })
	move(c, c.Local(o.block(data, me)), a.Shard(me))

	teams := levelTeams(c, a, signals, func(first, count int) tl.Sym { return o.blockRange(data, first, count) })
	for i := range teams {
		g := teams[len(teams)-1-i]
		g.barrier(g.up)
		g.gather()
	}
	for r := range n {
		move(c, a.OutBlock(me, n*a.NElem, n, r), c.Local(o.block(data, r)))
	}
}

// HierarchicalAllGather lets each vector cross to each cube once.
var HierarchicalAllGather = Register(Algorithm{
	Name:       "hierarchical_allgather",
	Summary:    "all-gather across cubes among the PEs of one place, then in the cube of what they have, by reads of a symmetric window",
	Collective: "all_gather",
	Topology:   "none",
	Kernel:     hierarchicalAllGather,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return slotsOf(world, nElem, t, 1, meshRow(world)) // all levels together have no more members than ranks
	},
	Steps:  "a barrier, N/L-1 reads, a barrier and L-1 reads with cubes of L",
	Cost:   "2 alpha + (N/L-1) (alpha + beta M) + (L-1) (alpha + beta M N/L): (N-1) M bytes per rank, of which (N/L-1) M cross to its cube",
	Source: "the 2D all-gather across and inside nodes of github.com/ByteDance-Seed/Triton-distributed; locality-aware: Bienz, Gautam, Kharel, A locality-aware Bruck allgather, EuroMPI 2022",
})
