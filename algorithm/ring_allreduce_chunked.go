package algorithm

import "kernbench/tl"

// ringAllReduceChunked is a reduce-scatter and an all-gather on a ring. The vector is split into N
// chunks. In the first N-1 steps partial sums travel east, and each rank adds its own part of the
// chunk that arrives. Then rank r holds chunk r+1 complete. In the next N-1 steps the complete
// chunks travel once round.
//
// With fewer elements than ranks some chunks are empty: they travel as empty messages, so
// that all ranks take the same steps. A rank sends while it still holds the slot that it
// received into, so here too n_slots must be at least 2.
//
// Long chunks go in pieces. Where a slot takes a piece, several are in flight, which hides the time
// from rank to rank.
func ringAllReduceChunked(c *tl.Context, a tl.Args) {
	h := channelOf(c, &a)
	mine, out := h.share(a.Shard(c.Rank())).Split(h.n), h.share(a.Out(c.Rank(), a.NElem)).Split(h.n)
	goRound(c, a.Op, piecesOf(c, &a, mine.Chunk(0).Len(), 1), &ringPipeline{
		to: tl.East, from: tl.West, me: h.me, n: h.n, reduces: true, gathers: true,
		brings: mine.Chunk, keeps: out.Chunk,
	})
}

// RingAllReduceChunked moves the fewest bytes that an all-reduce can.
var RingAllReduceChunked = Register(Algorithm{
	Name:       "ring_allreduce_chunked",
	Summary:    "reduce-scatter, then all-gather, on a ring: the fewest bytes that an all-reduce can move",
	Collective: "all_reduce",
	Topology:   "ring_1d",
	Kernel:     ringAllReduceChunked,
	MinSlots:   2,
	Rails:      true,
	Pipelined:  true,
	Steps:      "2(N-1) for each wave of pieces in flight",
	Cost:       "2(N-1) (alpha + beta M/N): 2(N-1)/N M bytes per rank",
	Source:     "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. Comput. 69(2), 2009",
})
