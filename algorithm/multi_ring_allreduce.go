package algorithm

import "kernbench/tl"

// multiRingAllReduce keeps all four directions of a torus busy, each with a quarter of the vector.
// Two quarters begin along the rows, one in each direction, and continue along the columns. The
// other two begin along the columns. All four change at the same time, so that no two share a
// direction.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func multiRingAllReduce(c *tl.Context, a tl.Args) {
	t := torusOf(c, a)
	first := []*bucket{t.eastward(), t.westward(), t.southward(), t.northward()}
	second := []*bucket{t.southward(), t.northward(), t.eastward(), t.westward()}
	for mine, out := range segments(&a, c.Rank(), min(t.w, t.h)) {
		for i, b := range first {
			b.ofMemory(mine.Chunk(len(first), i), out.Chunk(len(first), i))
		}
		reduceBuckets(first...)
		for i, b := range second {
			b.after(first[i])
		}
		reduceBuckets(second...)
		finishBuckets(second...)
		gatherBuckets(second...)
		takeBuckets(first...)
		gatherBuckets(first...)
	}
}

// MultiRingAllReduce uses all links of a torus, in both directions.
var MultiRingAllReduce = Register(Algorithm{
	Name:       "multi_ring_allreduce",
	Summary:    "four quarters of the vector at once, each by rows and columns of a torus in a direction of its own",
	Collective: "all_reduce",
	Topology:   "torus_2d",
	Kernel:     multiRingAllReduce,
	MinSlots:   2,
	Steps:      "4(max(w,h)-1)",
	Cost:       "4(s-1) alpha + 2(N-1)/N beta M/4 on a torus of s by s: 2(N-1)/N M bytes per rank",
	Source:     "Jain, Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, ICS 2010",
})
