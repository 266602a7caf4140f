package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// hierarchicalReduceScatter is the first half of hierarchicalDirectAllReduce. First every PE sums
// over its cube the chunks of all PEs that have its index in any cube. Then it sums its own chunk
// over the PEs of its index in all cubes. So only sums leave a cube, and all its PEs read at once.
// The levels and the launch arguments are those of hierarchicalAllReduce.
//
// Until all members of the next level have reached the barrier, a rank writes only data that it
// alone reads.
func hierarchicalReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, inputElems(a, n))
	o := levelOrderOf(levelWidths(c, a), n, func(rank int) int { return packed(a, n, rank).N })
	for r := range n {
		move(c, c.Local(o.block(data, r)), a.InBlock(me, n, r))
	}
	teams := levelTeams(c, a, signals, func(first, count int) tl.Sym { return o.blockRange(data, first, count) })
	for i, g := range teams {
		g.barrier(g.up)
		g.reduce(a.Op, i == len(teams)-1)
	}
	own := o.block(data, me)
	move(c, a.Out(me, own.Len()), c.Local(own))
}

// HierarchicalReduceScatter sends only sums between cubes.
var HierarchicalReduceScatter = Register(Algorithm{
	Name:       "hierarchical_reduce_scatter",
	Summary:    "reduce-scatter in each cube, then between PEs of equal index across cubes, by reads of a symmetric window",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     hierarchicalReduceScatter,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world)) // the levels need at most one signal word per rank
	},
	Steps:  "a barrier, L-1 reads, a barrier and N/L-1 reads with cubes of L",
	Cost:   "2 alpha + (L-1) (alpha + (beta + gamma) M/L) + (N/L-1) (alpha + (beta + gamma) M/N): (N-1)/N M bytes per rank, of which (N/L-1) M/N leave a cube",
	Source: "the 2D reduce-scatter inside and across nodes of github.com/ByteDance-Seed/Triton-distributed (tutorial 06); the first half of Cho et al., BlueConnect, MLSys 2019",
})
