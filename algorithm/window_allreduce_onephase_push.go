package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllReduceOnePhasePush is windowAllReduceOnePhase with puts. Every rank puts its vector into
// its slot of every copy of the window, and adds up the vectors that it got. There is no barrier:
// an all-reduce takes one message latency, the minimum.
//
// All ranks add in the order of ranks, so that all end with the same bits.
func windowAllReduceOnePhasePush(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, n*a.NElem)
	came, use := row(c, signals, 0), a.Use(0)
	mine := a.Shard(me)
	pushToAll(c, data.Chunk(n, me), mine, came)
	for i := range strips(mine, 1) { // at least one: a rank with nothing to add waits, too
		var acc tl.Tensor
		for from := range n {
			part := mine
			if from != me {
				if i == 0 {
					awaitWord(c, came.At(from), use)
				}
				part = c.Local(data.Chunk(n, from))
			}
			next := c.Load(strip(part, i))
			if from > 0 {
				next = c.Combine(a.Op, acc, next)
			}
			acc = next
		}
		c.Store(strip(a.Out(me, a.NElem), i), c.Finish(a.Op, acc, n))
	}
}

// WindowAllReduceOnePhasePush takes one message latency.
var WindowAllReduceOnePhasePush = Register(Algorithm{
	Name:       "window_allreduce_onephase_push",
	Summary:    "every rank puts its vector into the symmetric window of all others, and every rank adds up all: one message delay, for short vectors",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceOnePhasePush,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return slotsOf(world, nElem, t, 1, meshRow(world))
	},
	Steps:  "N-1 puts side by side",
	Cost:   "alpha + (N-1) (beta + gamma) M: (N-1) M bytes and N-1 notifications per rank",
	Source: "the one-shot push of github.com/ByteDance-Seed/Triton-distributed (kernels/nvidia/allreduce.py), with one order of addition for all ranks",
})
