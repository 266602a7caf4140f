package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllReduceOnePhase lets every rank stage its whole vector, and reduce all of it by
// itself. It is quick for small vectors: one barrier, then reads that depend on no rank. Every
// rank begins with its own copy, so that ranks differ in the last bits of floating-point sums.
func windowAllReduceOnePhase(c *tl.Context, a tl.Args) {
	me := c.Rank()
	data, signals := scratch(c, a, a.NElem)

	move(c, c.Local(data), a.Shard(me))
	c.PipeBarrier() // what was staged is complete before any rank is notified
	meshBarrier(c, row(c, signals, 0), a.Use(0))
	reduce(c, a.Op, a.Out(me, a.NElem), data)
}

// WindowAllReduceOnePhase reads everything everywhere.
var WindowAllReduceOnePhase = Register(Algorithm{
	Name:       "window_allreduce_onephase",
	Summary:    "every rank stages its vector in a symmetric window and, after a barrier, reduces all copies: one barrier, the most bytes",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceOnePhase,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world))
	},
	Steps:  "1 barrier, N-1 reads",
	Cost:   "alpha + (N-1) (alpha + beta M): (N-1) M bytes and N-1 notifications per rank",
	Source: "mode onephase of the all-reduce kernels of github.com/hw-native-sys/simpler; elsewhere: one-shot, pull",
})
