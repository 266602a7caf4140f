package algorithm

import "kernbench/tl"

// windowAllGatherBidirectionalRing is the second half of the bidirectional all-reduce ring. In
// every step a rank forwards by puts what it got last, one half to each neighbour. No rank has to
// be asked first. Only the left neighbour writes the first half of a slot, only the right one the
// second, and each only once.
func windowAllGatherBidirectionalRing(c *tl.Context, a tl.Args) {
	r := ofSlots(c, a)
	r.gatherByPuts()
	takeBlocks(c, a, r.n, r.data)
}

// WindowAllGatherBidirectionalRing uses both directions of a ring at once.
var WindowAllGatherBidirectionalRing = Register(Algorithm{
	Name:       "window_allgather_bidirectional_ring",
	Summary:    "halves of the vectors go round a ring in opposite directions, by puts into the neighbour's symmetric window",
	Collective: "all_gather",
	Topology:   "none",
	Kernel:     windowAllGatherBidirectionalRing,
	Window:     slotsWindow,
	Steps:      "N-1 pairs of puts, N-1 barriers",
	Cost:       "(N-1) (2 alpha + beta M/2): (N-1) M bytes and 2(N-1) notifications per rank, half as many with two ranks",
	Source:     "the second half of window_allreduce_bidirectional_ring",
})
