package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// ringReduceScatter is the first half of the chunked all-reduce, begun one rank earlier so that
// each rank ends with its own chunk: partial sums travel east, and chunk k comes together on its
// way from rank k+1 round to rank k.
//
// With fewer elements than ranks some chunks are empty: they travel as empty messages. Long ones
// go round strip by strip. A rank sends while it still holds the slot that it received into, so
// n_slots must be at least 2.
func ringReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	mine := a.Shard(me)
	out := a.Out(me, mine.Chunk(n, me).Len())
	for i := range strips(mine, n) {
		part := c.Load(strip(mine.Chunk(n, (me+n-1)%n), i))
		for step := range n - 1 {
			_, k := topology.RingStep(me-1, step, n)
			own := c.Load(strip(mine.Chunk(n, k), i)) // comes in while the message is on its way
			c.Send(tl.East, part)
			c.Free(part)
			part = c.Combine(a.Op, own, c.Recv(tl.West, own.Shape(), own.DType()))
			c.Free(own)
		}
		c.Store(strip(out, i), c.Finish(a.Op, part, n))
	}
}

// strips is the number of strips of each of n chunks of a vector: a strip is no longer than a
// tile, and all chunks have as many, so that all ranks take the same steps.
func strips(v tl.Ref, n int) int {
	return max(1, tl.CDiv(v.Chunk(n, 0).Len(), tileBytes/v.DType.Size())) // no chunk is longer than the first
}

// strip is strip i of a chunk: shorter than the others, or empty, where the chunk ends.
func strip(chunk tl.Ref, i int) tl.Ref {
	per := tileBytes / chunk.DType.Size()
	lo := min(i*per, chunk.Len())
	return chunk.Slice(lo, min(per, chunk.Len()-lo))
}

// RingReduceScatter rotates partial sums.
var RingReduceScatter = Register(Algorithm{
	Name:       "ring_reduce_scatter",
	Summary:    "partial sums of one chunk each go once round a ring and end where they belong",
	Collective: "reduce_scatter",
	Topology:   "ring_1d",
	Kernel:     ringReduceScatter,
	MinSlots:   2,
	Steps:      "N-1",
	Cost:       "(N-1) (alpha + (beta + gamma) M/N): (N-1)/N M bytes per rank",
	Source:     "the first half of Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. Comput. 69(2), 2009",
})
