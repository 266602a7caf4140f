package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowReduceScatterBidirectionalRing is the first half of the bidirectional all-reduce ring. In
// every step a rank combines a half chunk into each neighbour's copy of the window.
func windowReduceScatterBidirectionalRing(c *tl.Context, a tl.Args) {
	r := ofBlocks(c, a)
	r.reduceByPuts()
	mine := r.chunk(r.me)
	r.finish(a.Out(r.me, mine.Len()), mine)
}

// WindowReduceScatterBidirectionalRing uses both directions of a ring at once.
var WindowReduceScatterBidirectionalRing = Register(Algorithm{
	Name:       "window_reduce_scatter_bidirectional_ring",
	Summary:    "halves of each chunk are summed round a ring in opposite directions, by puts that combine in the neighbour's symmetric window",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     windowReduceScatterBidirectionalRing,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, world, ringRow)
	},
	Steps:  "N barriers, N-1 pairs of puts",
	Cost:   "(N-1) (2 alpha + beta M/(2N)): (N-1)/N M bytes and 2N notifications per rank, N with two ranks",
	Source: "the first half of window_allreduce_bidirectional_ring",
})
