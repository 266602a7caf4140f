package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllReduceBidirectionalRing runs two rings in opposite directions, each on one half of every
// chunk. It pushes. In the first N-1 steps a rank combines its partial result into the neighbour's
// copy of the window, in place. Then it puts complete halves there.
//
// A rank may overwrite a neighbour's memory when that neighbour has pushed from it. Puts return
// when their source has been read, and both neighbours are notified after that.
func windowAllReduceBidirectionalRing(c *tl.Context, a tl.Args) {
	r := ofVector(c, a)
	r.reduceByPuts()
	r.gatherByPuts()
	r.finish(a.Out(r.me, a.NElem), r.data)
}

// WindowAllReduceBidirectionalRing uses both directions of a ring at once.
var WindowAllReduceBidirectionalRing = Register(Algorithm{
	Name:       "window_allreduce_bidirectional_ring",
	Summary:    "two rings in opposite directions, each on half of every chunk, by puts that combine in the neighbour's symmetric window",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceBidirectionalRing,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 2*(world-1)+1, ringRow)
	},
	Steps:  "2(N-1)+1 barriers, 2(N-1) pairs of puts",
	Cost:   "2(N-1) (2 alpha + beta M/(2N)): 2(N-1)/N M bytes and 2(2N-1) notifications per rank, 3 with two ranks",
	Source: "rings in both directions: Jain, Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, ICS 2010; by puts: mode bidirectional_ring of github.com/hw-native-sys/simpler",
})
