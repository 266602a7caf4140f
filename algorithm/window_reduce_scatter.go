package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowReduceScatter has four phases. Every rank stages all chunks of its vector in its copy of
// the window. All synchronize. Every rank reduces its own chunk out of all copies, and stores it.
// Ranks begin with their own copy, so that each adds in another order.
func windowReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, inputElems(a, n))
	own := packed(a, n, me)
	mine := data.Slice(own.Lo, own.N)

	stageBlocks(c, a, n, data)
	c.PipeBarrier() // what was staged is complete before any rank is notified
	meshBarrier(c, row(c, signals, 0), a.Use(0))
	reduce(c, a.Op, a.Out(me, mine.Len()), mine)
}

// WindowReduceScatter stages, waits in a barrier, reads and reduces.
var WindowReduceScatter = Register(Algorithm{
	Name:       "window_reduce_scatter",
	Summary:    "every rank stages all chunks in a symmetric window and, after a barrier, reduces its own chunk",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     windowReduceScatter,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world))
	},
	Steps:  "1 barrier, N-1 reads",
	Cost:   "alpha + (N-1) (alpha + beta M/N): (N-1)/N M bytes and N-1 notifications per rank",
	Source: "the four phases of the reduce-scatter example of github.com/hw-native-sys/simpler",
})
