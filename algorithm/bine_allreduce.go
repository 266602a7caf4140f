package algorithm

import "kernbench/tl"

// bineAllReduce exchanges whole vectors along a Bine butterfly, the far partners first. At each
// step partners are about half as far apart on a ring as before, on the other side. The sum of
// distances is a third less than on a hypercube, and fewer bytes cross between groups of
// neighbours.
//
// With the far partners first, both sides of an exchange have sums of equally many ranks. All ranks
// of such a sum have the same bits. So all ranks end with the same bits. That would not hold with
// the near ones first. Of 8 ranks, 0 would have the sum with 1, 6 and 7, and 1 that with 0, 2 and
// 3.
//
// This form is for short vectors. The form for long ones, a reduce-scatter and an all-gather along
// the same butterfly, is swing_allreduce.
//
// Each direction carries one message of a segment, so one slot is enough, unless it holds more
// than a segment.
func bineAllReduce(c *tl.Context, a tl.Args) {
	folded(c, a, func(out tl.Ref, acc tl.Tensor, dims int) {
		for k := dims - 1; k >= 0; k-- {
			c.Send(tl.Dim(k), acc)
			acc = c.Combine(a.Op, acc, c.Recv(tl.Dim(k), acc.Shape(), acc.DType()))
		}
		c.Store(out, c.Finish(a.Op, acc, c.WorldSize()))
	})
}

// BineAllReduce keeps recursive doubling near.
var BineAllReduce = Register(Algorithm{
	Name:       "bine_allreduce",
	Summary:    "whole vectors are exchanged along a Bine butterfly: as few steps as recursive doubling, with partners that are nearer",
	Collective: "all_reduce",
	Topology:   "swing",
	Kernel:     bineAllReduce,
	Steps:      "floor(log2 N), and 2 more unless N is a power of two",
	Cost:       "log2(N) (alpha + beta M): log2(N) M bytes per rank",
	Source:     "De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine trees: enhancing collective operations by optimizing communication locality, SC 2025",
})
