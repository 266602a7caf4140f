package algorithm

import "kernbench/tl"

// hierarchicalRingAllReduce follows the levels of the machine on rings, from those of ranks that
// lie next to each other on: PEs of a cube, cubes of a row, rows, packages. On each level every
// rank reduces the part that the level below has left it. So all ranks work all the time, and a
// cube sends from all of its PEs at once, each its own part. The levels are then traversed in
// reverse. One half of the vector goes east on all rings, the other west.
//
// A rank sends while it still holds the slot that it received into, so n_slots must be at least 2.
func hierarchicalRingAllReduce(c *tl.Context, a tl.Args) {
	dims := levelCircles(c, &a)
	allReduceByLevels(c, &a, dims, levelHalves(&a, dims))
}

// levelHalves returns the halves of the vector, one for each direction of the rings.
func levelHalves(_ *tl.Args, dims []levelCircle) []*bucketPart {
	return []*bucketPart{{dims: dims}, {dims: dims, west: true}}
}

// HierarchicalRingAllReduce has messages to neighbours only, and few of them.
var HierarchicalRingAllReduce = Register(Algorithm{
	Name:       "hierarchical_ring_allreduce",
	Summary:    "reduce-scatters on rings from the innermost level of the machine out, each rank on its own part, and all-gathers back, in both directions",
	Collective: "all_reduce",
	Topology:   "hierarchical",
	Kernel:     hierarchicalRingAllReduce,
	MinSlots:   2,
	Pipelined:  true,
	Steps:      "2 sum(n_k - 1) over the levels",
	Cost:       "2 sum((n_k - 1) (alpha_k + beta_k M/(2 n_0 n_1 ... n_k))): 2(N-1)/N M bytes per rank, of which 2M/n_0 leave a cube",
	Source:     "reduce-scatter inside, all-reduce across, all-gather inside: Cho, Finkler, Serrano, Kung, Hunter, BlueConnect: decomposing all-reduce for deep learning on heterogeneous network hierarchy, MLSys 2019",
})
