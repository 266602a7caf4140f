package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// torusReduceScatter is torusAllGather in reverse. Partial sums of what each row needs, one range
// of the vector, go around the rings of the columns. Then those of single chunks go around the
// rings of the rows, and end where they belong. The results of the columns are kept in staging
// memory.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func torusReduceScatter(c *tl.Context, a tl.Args) {
	t, n, me := torusOf(c, a), c.WorldSize(), c.Rank()
	v, sums := bringBlocks(c, a)
	if t.h > 1 {
		reduceRound(a.Op, func(_ *circle, i int, sum tl.Tensor) {
			c.Store(strip(blockRange(a, sums, n, t.y*t.w, t.w), i), sum)
		}, t.circle(tl.South, func(y int) tl.Ref { return blockRange(a, v, n, y*t.w, t.w) }))
		v = sums
	}
	out := a.Out(me, packed(a, n, me).N)
	reduceRound(a.Op, func(_ *circle, i int, sum tl.Tensor) {
		c.Store(strip(out, i), c.Finish(a.Op, sum, n))
	}, t.circle(tl.East, t.inRow(func(rank int) tl.Ref { return blockRange(a, v, n, rank, 1) })))
}

// bringBlocks returns the vector that a rank brings, with its blocks one after the other, and
// staging memory with as many places. They are the same where the blocks had to be brought
// together.
func bringBlocks(c *tl.Context, a tl.Args) (v, stage tl.Ref) {
	n := c.WorldSize()
	stage = staging(c, a, inputElems(a, n))
	if a.InBlocks == nil {
		return a.Shard(c.Rank()), stage
	}
	for j := range n {
		move(c, blockRange(a, stage, n, j, 1), a.InBlock(c.Rank(), n, j))
	}
	return stage, stage
}

// blockRange returns count of n blocks of v, from block first on.
func blockRange(a tl.Args, v tl.Ref, n, first, count int) tl.Ref {
	lo, last := packed(a, n, first).Lo, packed(a, n, first+count-1)
	return v.Slice(lo, last.Lo+last.N-lo)
}

// vectorWindow returns a window that holds one vector.
func vectorWindow(world, nElem int, t dtype.Type) (*mem.Layout, error) {
	return stagingLayout(world, 1, nElem, t)
}

// TorusReduceScatter has a step for each rank of a row and a column, not of the world.
var TorusReduceScatter = Register(Algorithm{
	Name:       "torus_reduce_scatter",
	Summary:    "reduce-scatter of the rows' contiguous parts along the rings of the columns, then of single chunks along the rings of the rows",
	Collective: "reduce_scatter",
	Topology:   "torus_2d",
	Kernel:     torusReduceScatter,
	Window:     vectorWindow,
	MinSlots:   2,
	Steps:      "(h-1) + (w-1)",
	Cost:       "(h-1) (alpha + (beta + gamma) M/h) + (w-1) (alpha + (beta + gamma) M/N): (N-1)/N M bytes per rank",
	Source:     "the bucket algorithm by dimension: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience, Concurrency Computat.: Pract. Exper. 19(13), 2007",
})
