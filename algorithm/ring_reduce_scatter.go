package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// ringReduceScatter is the first half of the chunked all-reduce, begun one rank earlier so that
// each rank ends with its own chunk: partial sums travel east, and chunk k comes together on its
// way from rank k+1 round to rank k.
//
// With fewer elements than ranks some chunks are empty: they travel as empty messages. A rank
// sends while it still holds the slot that it received into, so n_slots must be at least 2.
func ringReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	mine := a.Shard(me)
	part := c.Load(mine.Chunk(n, (me+n-1)%n))
	for step := range n - 1 {
		_, k := topology.RingStep(me-1, step, n)
		own := c.Load(mine.Chunk(n, k)) // comes in while the message is on its way
		c.Send(tl.East, part)
		c.Free(part)
		part = c.Combine(a.Op, own, c.Recv(tl.West, own.Shape(), own.DType()))
		c.Free(own)
	}
	c.Store(a.Out(me, part.Len()), c.Finish(a.Op, part, n))
}

// RingReduceScatter rotates partial sums.
var RingReduceScatter = Register(Algorithm{
	Name:       "ring_reduce_scatter",
	Summary:    "partial sums of one chunk each go once round a ring and end where they belong",
	Collective: "reduce_scatter",
	Topology:   "ring_1d",
	Kernel:     ringReduceScatter,
	Steps:      "N-1",
	Cost:       "(N-1) (alpha + (beta + gamma) M/N): (N-1)/N M bytes per rank",
	Source:     "the first half of Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. Comput. 69(2), 2009",
})
