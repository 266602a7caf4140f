package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// swingAllReduce halves and doubles like halvingDoublingAllReduce, but with partners that are near
// on a ring. They are at distance 1, 1, 3, 5, 11, ..., on alternating sides. The largest messages
// take the shortest routes. Half of the vector swings in the opposite direction, so that the links
// on both sides of a rank are used at the same time.
func swingAllReduce(c *tl.Context, a tl.Args) {
	folded(c, a, func(out tl.Ref, sum tl.Tensor, dims int) {
		keep, mirrored := halves(sum, 0)
		halveAndDouble(c, a.Op, dims, &halving{
			dir: tl.Dim, half: func(k int) int { return topology.SwingHalf(c.Rank(), k, dims) },
			parts: []tl.Ref{out.Chunk(2, 0)}, sum: keep,
		}, &halving{
			dir: topology.MirrorDim, half: func(k int) int { return mirrorHalf(c.Rank(), k, dims) },
			parts: []tl.Ref{out.Chunk(2, 1)}, sum: mirrored,
		})
	})
}

// mirrorHalf is topology.SwingHalf in the opposite direction.
func mirrorHalf(rank, k, dims int) int {
	return topology.SwingHalf((1<<dims-rank)&(1<<dims-1), k, dims)
}

// SwingAllReduce is for rings and tori, where distance costs bandwidth.
var SwingAllReduce = Register(Algorithm{
	Name:       "swing_allreduce",
	Summary:    "halving and doubling with partners at distances 1, 1, 3, 5, ... on alternating sides of a ring, and half of the vector mirrored",
	Collective: "all_reduce",
	Topology:   "swing",
	Kernel:     swingAllReduce,
	MinSlots:   2,
	Steps:      "2 floor(log2 N), and 2 more unless N is a power of two",
	Cost:       "2 log2(N) alpha + 2(N-1)/N beta M/2 where both sides go side by side and no messages meet: 2(N-1) M bytes in all",
	Source:     "De Sensi, Bonato, Saam, Hoefler, Swing: short-cutting rings for higher bandwidth allreduce, NSDI 2024",
})
