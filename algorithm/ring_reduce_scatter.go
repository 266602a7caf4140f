package algorithm

import "kernbench/tl"

// ringReduceScatter is the first half of the chunked all-reduce, begun one rank earlier so that
// each rank ends with its own chunk. Partial sums travel east, and chunk k is summed on the path
// from rank k+1 around to rank k.
//
// With fewer elements than ranks some chunks are empty: they travel as empty messages. Long ones
// go in pieces. A rank sends while it still holds the slot that it received into, so n_slots must
// be at least 2.
func ringReduceScatter(c *tl.Context, a tl.Args) {
	h := channelOf(c, &a)
	mine := a.Shard(c.Rank()).Split(h.n)
	out := h.share(a.Out(c.Rank(), mine.Chunk(c.Rank()).Len()))
	goRound(c, a.Op, piecesOf(c, &a, h.largest(mine.Chunk(0).Len()), 1), &ringPipeline{
		to: tl.East, from: tl.West, me: (h.me + h.n - 1) % h.n, n: h.n, reduces: true,
		brings: h.blocks(a.Shard(c.Rank())),
		keeps:  func(int) tl.Ref { return out },
	})
}

// RingReduceScatter rotates partial sums.
var RingReduceScatter = Register(Algorithm{
	Name:       "ring_reduce_scatter",
	Summary:    "the partial sum of each chunk goes once round a ring and ends at the rank of that chunk",
	Collective: "reduce_scatter",
	Topology:   "ring_1d",
	Kernel:     ringReduceScatter,
	MinSlots:   2,
	Rails:      true,
	Pipelined:  true,
	Steps:      "N-1",
	Cost:       "(N-1) (alpha + (beta + gamma) M/N): (N-1)/N M bytes per rank",
	Source:     "the first half of Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. Comput. 69(2), 2009",
})
