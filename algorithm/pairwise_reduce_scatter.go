package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// pairwiseReduceScatter takes N-1 steps. In each of them every rank has one partner to send to and
// one to receive from. In step i a rank puts the chunk of the rank i further on into its slot
// there. It adds the chunk that the rank i before has put here. No rank forwards data, so each
// contribution is sent once, for any number of ranks.
func pairwiseReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, n*largest(a, n))
	came, use := row(c, signals, 0), a.Use(0)
	slot := func(owner, from int) tl.Sym { // in the copy of an owner, which has a slot for each rank
		length := packed(a, n, owner).N
		return data.Slice(from*length, length)
	}
	sum := slot(me, me)
	move(c, c.Local(sum), a.InBlock(me, n, me))
	for i := 1; i < n; i++ {
		to, from := (me+i)%n, (me-i+n)%n
		c.PutSignal(slot(to, me), to, a.InBlock(me, n, to), came.At(me), tl.SignalAdd, 1)
		awaitWord(c, came.At(from), use)
		for lo, length := range tiles(sum.Len(), a.DType) {
			acc, got := c.Local(sum).Slice(lo, length), c.Local(slot(me, from)).Slice(lo, length)
			both := join(c, a.Op, c.Load(acc), c.Load(got))
			c.Store(acc, both)
			c.Free(both)
		}
	}
	out := a.Out(me, sum.Len())
	for lo, length := range tiles(sum.Len(), a.DType) {
		c.Store(out.Slice(lo, length), c.Finish(a.Op, c.Load(c.Local(sum).Slice(lo, length)), n))
	}
}

// largest returns the number of elements in the largest of n blocks that a rank brings.
func largest(a tl.Args, n int) int {
	most := 0
	for j := range n {
		most = max(most, packed(a, n, j).N)
	}
	return most
}

// PairwiseReduceScatter adds one partner's chunk after the other.
var PairwiseReduceScatter = Register(Algorithm{
	Name:       "pairwise_reduce_scatter",
	Summary:    "each step has one partner to send to and one to receive from: chunks go straight to their owner's symmetric window, and the owner adds them up",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     pairwiseReduceScatter,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return slotsOf(world, tl.CDiv(nElem, max(1, world)), t, 1, meshRow(world))
	},
	Steps:  "N-1",
	Cost:   "(N-1) (alpha + (beta + gamma) M/N): (N-1)/N M bytes and N-1 notifications per rank",
	Source: "pairwise exchange: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.2",
})
