package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// multiRingReduceScatter is multiRingAllGather in reverse. Two quarters of each chunk are summed
// along the columns first, one chunk of the row after the other, and then along the rows. The other
// two are summed along the rows first. The results of the first dimension are kept in staging
// memory.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func multiRingReduceScatter(c *tl.Context, a tl.Args) {
	t, n, me := torusOf(c, a), c.WorldSize(), c.Rank()
	v := func(q, x, y int) tl.Ref { return a.InBlock(me, n, y*t.w+x).Chunk(4, q) }
	sums := t.sums(c, a)
	for i := range max(t.w, t.h) {
		reduceRound(a.Op, func(r *circle, k int, sum tl.Tensor) {
			c.Store(strip(sums(r.quarter, i), k), sum)
		}, t.quarters(v, i, i, tl.South, tl.North, tl.East, tl.West)...)
	}
	out := a.Out(me, packed(a, n, me).N)
	reduceRound(a.Op, func(r *circle, k int, sum tl.Tensor) {
		c.Store(strip(out.Chunk(4, r.quarter), k), c.Finish(a.Op, sum, n))
	}, t.quarters(func(q, x, y int) tl.Ref {
		if q < 2 { // a row's chunks
			return sums(q, x)
		}
		return sums(q, y)
	}, t.y, t.x, tl.East, tl.West, tl.South, tl.North)...)
}

// sums returns the place in staging memory of a quarter's sum. It is the i-th of the rank's row, or
// of the rank's column for the last two quarters.
func (t torus) sums(c *tl.Context, a tl.Args) func(q, i int) tl.Ref {
	n := c.WorldSize()
	size := quarterOf(inputElems(a, n), n)
	stage := staging(c, a, 2*(t.w+t.h)*size)
	return func(q, i int) tl.Ref {
		rank, slot := t.y*t.w+i, 2*i+q
		if q >= 2 {
			rank, slot = i*t.w+t.x, 2*(t.w+i)+q-2
		}
		return stage.Slice(slot*size, mem.ChunkOf(packed(a, n, rank).N, 4, q).N)
	}
}

// quarterOf returns the number of elements in the largest quarter of one of n chunks.
func quarterOf(elems, n int) int { return tl.CDiv(tl.CDiv(elems, n), 4) }

// MultiRingReduceScatter uses all links of a torus, in both directions.
var MultiRingReduceScatter = Register(Algorithm{
	Name:       "multi_ring_reduce_scatter",
	Summary:    "four quarters of the chunks at once, each along columns and rows of a torus in a direction of its own: for long vectors",
	Collective: "reduce_scatter",
	Topology:   "torus_2d",
	Kernel:     multiRingReduceScatter,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		n := max(1, world)
		return stagingLayout(world, 2*(n+1), quarterOf(nElem, n), t) // w+h is no more than N+1
	},
	MinSlots: 2,
	Steps:    "(s-1) s + s-1 on a torus of s by s: N-1, as one chunk of a row goes along the columns after the other",
	Cost:     "(N-1) (alpha + (beta + gamma) M/4N): (N-1)/N M bytes per rank",
	Source:   "Jain, Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, ICS 2010",
})
