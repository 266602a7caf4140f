package algorithm

import "kernbench/tl"

// torusAllReduce goes by dimension. First comes a reduce-scatter along the rings of the rows. Then
// come an all-reduce of the parts along the rings of the columns, and an all-gather along the rows.
// Columns carry one part in w of the vector.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func torusAllReduce(c *tl.Context, a tl.Args) {
	t := torusOf(c, a)
	row, column := t.eastward(), t.southward()
	for mine, out := range segments(&a, c.Rank(), t.w) {
		reduceBuckets(row.ofMemory(mine, out))
		reduceBuckets(column.after(row))
		finishBuckets(column)
		gatherBuckets(column)
		takeBuckets(row)
		gatherBuckets(row)
	}
}

// torus is a rank's place in a torus of w by h.
type torus struct {
	c          *tl.Context
	op         tl.ReduceOp
	x, y, w, h int
}

// torusOf finds it out: the neighbour in the south is w ranks on, or the rank itself where
// there is one row only.
func torusOf(c *tl.Context, a tl.Args) torus {
	n, south := c.WorldSize(), c.Rank()
	if peer, ok := c.Neighbor(tl.South); ok {
		south = peer
	}
	w := rowLength(c.Rank(), south, n)
	return torus{c, a.Op, c.Rank() % w, c.Rank() / w, w, n / w}
}

// rowLength returns the number of ranks in a row, for n ranks.
func rowLength(rank, south, n int) int {
	if south == rank {
		return n
	}
	return (south - rank + n) % n
}

// eastward returns the ring of the rank's row in direction east; the others are named alike.
func (t torus) eastward() *bucket {
	return &bucket{c: t.c, op: t.op, to: tl.East, from: tl.West, me: t.x, n: t.w}
}

func (t torus) westward() *bucket {
	return &bucket{c: t.c, op: t.op, to: tl.West, from: tl.East, me: t.w - 1 - t.x, n: t.w}
}

func (t torus) southward() *bucket {
	return &bucket{c: t.c, op: t.op, to: tl.South, from: tl.North, me: t.y, n: t.h}
}

func (t torus) northward() *bucket {
	return &bucket{c: t.c, op: t.op, to: tl.North, from: tl.South, me: t.h - 1 - t.y, n: t.h}
}

// TorusAllReduce has a step for each rank of a row and a column, not of the world.
var TorusAllReduce = Register(Algorithm{
	Name:       "torus_allreduce",
	Summary:    "reduce-scatter along rows, all-reduce along columns, all-gather along rows, each on rings",
	Collective: "all_reduce",
	Topology:   "torus_2d",
	Kernel:     torusAllReduce,
	MinSlots:   2,
	Steps:      "2(w-1) + 2(h-1)",
	Cost:       "2(w-1) (alpha + beta M/w) + 2(h-1) (alpha + beta M/N): 2(N-1)/N M bytes per rank",
	Source:     "Ying, Kumar, Chen, Wang, Cheng, Image classification at supercomputer scale, 2018: 2-D mesh and torus gradient summation",
})
