package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// hierarchicalReduceScatter is the first half of hierarchicalDirectAllReduce. In a cube every PE
// reads and adds up what all PEs of the cube have for the PEs of its place in all cubes. Then it
// reads and adds up its own chunk from their copies. So what leaves a cube is summed up, and leaves
// it from all PEs at once. Levels are those of hierarchicalAllReduce, and take the same numbers.
//
// A rank adds to what only it reads until all of the next level have come.
func hierarchicalReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, brought(a, n))
	o := levelOrderOf(levelWidths(c, a), n, func(rank int) int { return packed(a, n, rank).N })
	for r := range n {
		move(c, c.Local(o.block(data, r)), a.InBlock(me, n, r))
	}
	teams := levelTeams(c, a, signals, func(first, count int) tl.Sym { return o.stretch(data, first, count) })
	for i, g := range teams {
		g.meet(g.up)
		g.reduce(a.Op, i == len(teams)-1)
	}
	own := o.block(data, me)
	move(c, a.Out(me, own.Len()), c.Local(own))
}

// HierarchicalReduceScatter lets sums alone cross from cube to cube.
var HierarchicalReduceScatter = Register(Algorithm{
	Name:       "hierarchical_reduce_scatter",
	Summary:    "reduce-scatter in the cube of what all PEs of one place are to have, then across cubes among these, by reads of a symmetric window",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     hierarchicalReduceScatter,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world)) // all levels together have no more members than ranks
	},
	Steps:  "a barrier, L-1 reads, a barrier and N/L-1 reads with cubes of L",
	Cost:   "2 alpha + (L-1) (alpha + (beta + gamma) M/L) + (N/L-1) (alpha + (beta + gamma) M/N): (N-1)/N M bytes per rank, of which (N/L-1) M/N leave a cube",
	Source: "the 2D reduce-scatter inside and across nodes of github.com/ByteDance-Seed/Triton-distributed (tutorial 06); the first half of Cho et al., BlueConnect, MLSys 2019",
})
