package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// recursiveDoublingAllReduce exchanges whole vectors along one dimension of a hypercube after the
// other. After dimension k the ranks of a subcube of 2^(k+1) have the same sum. Both sides of an
// exchange add the same two vectors, so that all ranks end with the same bits.
//
// Each direction carries one message of a segment, so one slot is enough, unless it holds more
// than a segment.
func recursiveDoublingAllReduce(c *tl.Context, a tl.Args) {
	folded(c, a, func(out tl.Ref, acc tl.Tensor, dims int) {
		for k := range dims {
			c.Send(tl.Dim(k), acc)
			acc = c.Combine(a.Op, acc, c.Recv(tl.Dim(k), acc.Shape(), acc.DType()))
		}
		c.Store(out, c.Finish(a.Op, acc, c.WorldSize()))
	})
}

// folded runs an algorithm for a power of two on any number of ranks. The algorithm gets the sum of
// a host and its guest, and leaves the result in memory. Guests only give and take.
func folded(c *tl.Context, a tl.Args, core func(out tl.Ref, sum tl.Tensor, dims int)) {
	ranks, dims := topology.Fold(c.WorldSize())
	for mine, out := range segments(&a, c.Rank(), 1) {
		sum := c.Load(mine)
		if c.Rank() >= ranks {
			c.Send(tl.Dim(dims), sum)
			c.RecvTo(tl.Dim(dims), out)
			continue
		}
		host := c.Rank()+ranks < c.WorldSize()
		if host {
			sum = c.Combine(a.Op, sum, c.Recv(tl.Dim(dims), sum.Shape(), sum.DType()))
		}
		core(out, sum, dims)
		if host {
			c.SendRef(tl.Dim(dims), out)
		}
	}
}

// RecursiveDoublingAllReduce takes the fewest steps.
var RecursiveDoublingAllReduce = Register(Algorithm{
	Name:       "recursive_doubling_allreduce",
	Summary:    "whole vectors are exchanged along each dimension of a hypercube: the fewest steps",
	Collective: "all_reduce",
	Topology:   "hypercube",
	Kernel:     recursiveDoublingAllReduce,
	Steps:      "floor(log2 N), and 2 more unless N is a power of two",
	Cost:       "log2(N) (alpha + beta M): log2(N) M bytes per rank",
	Source:     "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19(1), 2005, sec. 4.5",
})
