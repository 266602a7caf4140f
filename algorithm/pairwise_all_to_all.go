package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// pairwiseAllToAll takes N-1 steps. In step i a rank puts its block for the rank i further on into
// its slot there. It waits for the block of the rank i before. So no rank gets two blocks at a
// time. Blocks are copied out at the end, when they may overwrite the contribution.
func pairwiseAllToAll(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, inputElems(a, n))
	came, use := row(c, signals, 0), a.Use(0)
	slot := data.Chunk(n, me)
	c.UseChannels(a.TransferChannels)

	move(c, c.Local(slot), a.InBlock(me, n, me))
	for i := 1; i < n; i++ {
		to, from := (me+i)%n, (me-i+n)%n
		c.PutSignal(slot, to, a.InBlock(me, n, to), came.At(me), tl.SignalAdd, 1)
		awaitWord(c, came.At(from), use)
	}
	takeBlocks(c, a, n, data)
}

// PairwiseAllToAll exchanges with one partner after the other.
var PairwiseAllToAll = Register(Algorithm{
	Name:       "pairwise_all_to_all",
	Summary:    "each step has one partner to send to and one to receive from: blocks go straight to the receiver's symmetric window",
	Collective: "all_to_all",
	Topology:   "none",
	Kernel:     pairwiseAllToAll,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world))
	},
	Steps:  "N-1",
	Cost:   "(N-1) (alpha + beta M/N): (N-1)/N M bytes and N-1 notifications per rank",
	Source: "pairwise exchange: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.4",
})
