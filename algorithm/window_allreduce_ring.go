package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllReduceRing is the chunked ring by reads. In every step a rank reads one chunk from its
// left neighbour's copy of the window. In the first N-1 steps it adds the chunk to its own, and
// then it keeps it.
//
// One barrier per step is enough, and it needs no word to the left. In step s of the second half a
// rank overwrites data that its right neighbour has read in step s of the first. That neighbour's
// next notification, forwarded from rank to rank, comes around in the N-1 steps between.
func windowAllReduceRing(c *tl.Context, a tl.Args) {
	r := ofVector(c, a)
	r.reduceByReads()
	r.gatherByReads()
	move(c, a.Out(r.me, a.NElem), c.Local(r.data))
}

// WindowAllReduceRing reads from the left neighbour only.
var WindowAllReduceRing = Register(Algorithm{
	Name:       "window_allreduce_ring",
	Summary:    "reduce-scatter, then all-gather, on a ring: every rank reads from its left neighbour's symmetric window",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceRing,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		// One chunk more than is used. Windows for this algorithm have that size where users set
		// it, with space for a chunk in flight.
		return scratchLayout(world, nElem+tl.CDiv(nElem, max(1, world)), t, 2*(world-1), ringRow)
	},
	Steps:  "2(N-1) barriers and reads",
	Cost:   "2(N-1) (2 alpha + beta M/N): 2(N-1)/N M bytes and 2(N-1) notifications per rank",
	Source: "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. Comput. 69(2), 2009; by reads: mode ring of github.com/hw-native-sys/simpler",
})
