package algorithm

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllGatherRing is the second half of the all-reduce ring by reads. In every step a rank
// reads from its left neighbour's copy of the window what that rank got last.
func windowAllGatherRing(c *tl.Context, a tl.Args) {
	r := ofSlots(c, a)
	r.gatherByReads()
	takeBlocks(c, a, r.n, r.data)
}

// WindowAllGatherRing reads from the left neighbour only.
var WindowAllGatherRing = Register(Algorithm{
	Name:       "window_allgather_ring",
	Summary:    "vectors go round a ring: every rank reads from its left neighbour's symmetric window",
	Collective: "all_gather",
	Topology:   "none",
	Kernel:     windowAllGatherRing,
	Window:     slotsWindow,
	Steps:      "N-1 barriers and reads",
	Cost:       "(N-1) (2 alpha + beta M): (N-1) M bytes and N-1 notifications per rank",
	Source:     "the second half of window_allreduce_ring; Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005",
})

// slotsWindow has a slot for the vector of each rank, and a row of signals for each step.
func slotsWindow(world, nElem int, t dtype.Type) (*mem.Layout, error) {
	return slotsOf(world, nElem, t, world-1, ringRow)
}

// slotsOf declares a window that has a slot of n elements for each rank.
func slotsOf(world, n int, t dtype.Type, rows, perRow int) (*mem.Layout, error) {
	if n > mem.MaxOffset/max(1, world) {
		return nil, fmt.Errorf("slots of %d elements for %d ranks: more than a memory can address", n, world)
	}
	return scratchLayout(world, world*n, t, rows, perRow)
}
