package algorithm

import (
	"math/bits"

	"kernbench/tl"
)

// binomialAllReduce reduces to rank 0 along a binomial tree, and broadcasts back along it. The tree
// lies in a hypercube. A rank's parent is its neighbour in the dimension of the lowest bit set in
// its number. Its children are those in the dimensions below. Children with small subtrees are
// ready first, and answered last.
//
// Each direction carries one message of a segment, so one slot is enough.
func binomialAllReduce(c *tl.Context, a tl.Args) {
	for mine, out := range segments(&a, c.Rank(), 1) {
		binomialSegment(c, a.Op, mine, out)
	}
}

func binomialSegment(c *tl.Context, op tl.ReduceOp, mine, out tl.Ref) {
	up := bits.TrailingZeros(uint(c.Rank())) // the dimension of the parent; of the root: none
	below := min(up, bits.Len(uint(c.WorldSize()-1)))
	isChild := func(k int) bool { return c.Rank()+1<<k < c.WorldSize() }

	acc := c.Load(mine)
	for k := range below {
		if isChild(k) {
			acc = c.Combine(op, acc, c.Recv(tl.Dim(k), acc.Shape(), acc.DType()))
		}
	}
	if c.Rank() == 0 {
		acc = c.Finish(op, acc, c.WorldSize())
	} else {
		c.Send(tl.Dim(up), acc)
		acc = c.Recv(tl.Dim(up), acc.Shape(), acc.DType())
	}
	for k := below - 1; k >= 0; k-- {
		if isChild(k) {
			c.Send(tl.Dim(k), acc)
		}
	}
	c.Store(out, acc)
}

// BinomialAllReduce has one step for each bit of a rank's number in either half.
var BinomialAllReduce = Register(Algorithm{
	Name:       "binomial_allreduce",
	Summary:    "a binomial tree is reduced to rank 0 and the result broadcast back along it",
	Collective: "all_reduce",
	Topology:   "hypercube",
	Kernel:     binomialAllReduce,
	Path:       binomialAndBack,
	Steps:      "2 ceil(log2 N)",
	Cost:       "2 ceil(log2 N) (alpha + beta M): 2(N-1) M bytes in all",
	Source:     "the binomial trees of reduce and broadcast: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, IJHPCA 19(1), 2005",
})
