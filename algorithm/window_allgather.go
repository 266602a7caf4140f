package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllGather has three phases. Every rank stages its vector in its copy of the window, all
// synchronize, and every rank reads all copies in rank order.
func windowAllGather(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, a.NElem)

	move(c, c.Local(data), a.Shard(me))
	c.PipeBarrier() // what was staged is complete before any rank is notified
	meshBarrier(c, row(c, signals, 0), a.Use(0))
	takeEach(c, a, func(peer int) (to, from tl.Ref) {
		return a.OutBlock(me, n*a.NElem, n, peer), c.At(data, peer)
	})
}

// WindowAllGather stages, waits in a barrier and reads.
var WindowAllGather = Register(Algorithm{
	Name:       "window_allgather",
	Summary:    "every rank stages its vector in a symmetric window and, after a barrier, reads all copies",
	Collective: "all_gather",
	Topology:   "none",
	Kernel:     windowAllGather,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world))
	},
	Steps:  "1 barrier, N-1 reads",
	Cost:   "alpha + (N-1) (alpha + beta M): (N-1) M bytes and N-1 notifications per rank",
	Source: "the three phases of the all-gather example of github.com/hw-native-sys/simpler",
})
