package algorithm

import "kernbench/tl"

// bidirectionalRingAllReduce runs two rings in opposite directions at once, each with one half
// of the vector: each is a reduce-scatter and an all-gather of its half in N chunks.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func bidirectionalRingAllReduce(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	east := &bucket{c: c, op: a.Op, to: tl.East, from: tl.West, me: me, n: n}
	west := &bucket{c: c, op: a.Op, to: tl.West, from: tl.East, me: n - 1 - me, n: n}
	for mine, out := range segments(a, me, n) {
		east.ofMemory(mine.Chunk(2, 0), out.Chunk(2, 0))
		west.ofMemory(mine.Chunk(2, 1), out.Chunk(2, 1))
		reduceBuckets(east, west)
		finishBuckets(east, west)
		gatherBuckets(east, west)
	}
}

// BidirectionalRingAllReduce uses the links of both directions.
var BidirectionalRingAllReduce = Register(Algorithm{
	Name:       "bidirectional_ring_allreduce",
	Summary:    "two chunked rings in opposite directions at once, each with half of the vector",
	Collective: "all_reduce",
	Topology:   "ring_1d",
	Kernel:     bidirectionalRingAllReduce,
	MinSlots:   2,
	Steps:      "2(N-1)",
	Cost:       "2(N-1) (alpha + beta M/2N) where both directions go side by side: 2(N-1)/N M bytes per rank",
	Source:     "rings in both directions: Jain, Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, ICS 2010",
})
