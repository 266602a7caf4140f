package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// ringAllReduceChunked is a reduce-scatter and an all-gather on a ring. The vector is
// split into N chunks. In the first N-1 steps partial sums travel east, each rank adding
// its own part of the chunk that arrives; then rank r holds chunk r+1 complete. In the
// next N-1 steps the complete chunks travel once round.
//
// With fewer elements than ranks some chunks are empty: they travel as empty messages, so
// that all ranks take the same steps. A rank sends while it still holds the slot that it
// received into, so here too n_slots must be at least 2.
//
// A rank holds three chunks in its scratch memory. A vector whose chunks are too large for that
// goes round in parts, one after the other.
func ringAllReduceChunked(c *tl.Context, a tl.Args) {
	mine, out := a.Shard(c.Rank()), a.Out(c.Rank(), a.NElem)
	most := c.WorldSize() * (ringChunkBytes / a.DType.Size())
	for lo := 0; lo < a.NElem; lo += most {
		n := min(most, a.NElem-lo)
		onceRound(c, a.Op, mine.Slice(lo, n), out.Slice(lo, n))
	}
}

// ringChunkBytes is the largest chunk: a quarter of the scratch memory that PEs usually have.
const ringChunkBytes = 256 << 10

// onceRound reduces what one part of the vector, mine, is on all ranks, to out.
func onceRound(c *tl.Context, op tl.ReduceOp, mine, out tl.Ref) {
	n := c.WorldSize()

	// Reduce-scatter. The own part is fetched while the message is on its way.
	part := c.Load(mine.Chunk(n, c.Rank()))
	for step := range n - 1 {
		_, k := topology.RingStep(c.Rank(), step, n)
		own := c.Load(mine.Chunk(n, k))
		c.Send(tl.East, part)
		c.Free(part)
		got := c.Recv(tl.West, own.Shape(), own.DType())
		part = c.Combine(op, own, got)
		c.Free(own)
	}
	part = c.Finish(op, part, n)
	c.Store(out.Chunk(n, (c.Rank()+1)%n), part)

	// All-gather.
	for step := range n - 1 {
		_, k := topology.RingGatherStep(c.Rank(), step, n)
		c.Send(tl.East, part)
		c.Free(part)
		chunk := out.Chunk(n, k)
		part = c.Recv(tl.West, chunk.Shape, chunk.DType)
		c.Store(chunk, part)
	}
	c.Free(part)
}

// RingAllReduceChunked moves the fewest bytes that an all-reduce can.
var RingAllReduceChunked = Register(Algorithm{
	Name:       "ring_allreduce_chunked",
	Summary:    "reduce-scatter, then all-gather, on a ring: the fewest bytes that an all-reduce can move",
	Collective: "all_reduce",
	Topology:   "ring_1d",
	Kernel:     ringAllReduceChunked,
	MinSlots:   2,
	Steps:      "2(N-1) for every 256 KiB N",
	Cost:       "2(N-1) (alpha + beta M/N): 2(N-1)/N M bytes per rank",
	Source:     "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. Comput. 69(2), 2009",
})
