package algorithm

import "kernbench/tl"

// ringAllGather passes every rank's vector once round the ring. In each of N-1 steps a rank
// forwards the vector that it received last, directly from its slot, and keeps a copy. Long vectors
// are sent in pieces.
//
// A rank sends while it still holds the slot that it received into, so n_slots must be at
// least 2.
func ringAllGather(c *tl.Context, a tl.Args) {
	h := channelOf(c, &a)
	mine := h.share(a.Shard(c.Rank()))
	goRound(c, a.Op, piecesOf(c, &a, h.largest(a.NElem), 1), &ringPipeline{
		to: tl.East, from: tl.West, me: (h.me + h.n - 1) % h.n, n: h.n, gathers: true,
		brings: func(int) tl.Ref { return mine },
		keeps:  h.blocks(a.Out(c.Rank(), h.n*a.NElem)),
	})
}

// RingAllGather rotates vectors.
var RingAllGather = Register(Algorithm{
	Name:       "ring_allgather",
	Summary:    "every vector goes once round a ring, and each rank keeps what passes by",
	Collective: "all_gather",
	Topology:   "ring_1d",
	Kernel:     ringAllGather,
	MinSlots:   2,
	Rails:      true,
	Pipelined:  true,
	Steps:      "N-1",
	Cost:       "(N-1) (alpha + beta M): (N-1) M bytes per rank",
	Source:     "the ring of all-gather: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.1",
})
