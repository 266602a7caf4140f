package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowReduceScatterRing is the first half of the all-reduce ring by reads. In every step a rank
// reads one chunk from its left neighbour's copy of the window and adds it to its own.
func windowReduceScatterRing(c *tl.Context, a tl.Args) {
	r := ofBlocks(c, a)
	r.reduceByReads()
	mine := r.chunk(r.me)
	move(c, a.Out(r.me, mine.Len()), c.Local(mine))
}

// WindowReduceScatterRing reads from the left neighbour only.
var WindowReduceScatterRing = Register(Algorithm{
	Name:       "window_reduce_scatter_ring",
	Summary:    "partial sums of chunks go round a ring: every rank reads from its left neighbour's symmetric window and adds",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     windowReduceScatterRing,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, world-1, ringRow)
	},
	Steps:  "N-1 barriers and reads",
	Cost:   "(N-1) (2 alpha + beta M/N): (N-1)/N M bytes and N-1 notifications per rank",
	Source: "the first half of window_allreduce_ring",
})
