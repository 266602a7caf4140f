package algorithm

import "kernbench/tl"

// bidirectionalRingAllReduce runs two rings in opposite directions at once, each with one half of
// the vector. Each is a reduce-scatter and an all-gather of its half in N chunks.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func bidirectionalRingAllReduce(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	half := func(i int, l ringPipeline) *ringPipeline {
		mine, out := a.Shard(me).Chunk(2, i).Split(n), a.Out(me, a.NElem).Chunk(2, i).Split(n)
		l.n, l.reduces, l.gathers = n, true, true
		l.brings, l.keeps = mine.Chunk, out.Chunk
		return &l
	}
	goRound(c, a.Op, piecesOf(c, &a, tl.CDiv(a.NElem, 2*n), 2),
		half(0, ringPipeline{to: tl.East, from: tl.West, me: me}),
		half(1, ringPipeline{to: tl.West, from: tl.East, me: n - 1 - me}))
}

// BidirectionalRingAllReduce uses the links of both directions.
var BidirectionalRingAllReduce = Register(Algorithm{
	Name:       "bidirectional_ring_allreduce",
	Summary:    "two chunked rings in opposite directions at once, each with half of the vector",
	Collective: "all_reduce",
	Topology:   "ring_1d",
	Kernel:     bidirectionalRingAllReduce,
	MinSlots:   2,
	Pipelined:  true,
	Steps:      "2(N-1)",
	Cost:       "2(N-1) (alpha + beta M/(2N)) where both directions go side by side: 2(N-1)/N M bytes per rank",
	Source:     "rings in both directions: Jain, Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, ICS 2010",
})
