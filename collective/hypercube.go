package collective

import "kernbench/unit"

// HyperCube is the all-gather along a hypercube of nccl-tests. Its size is that of the vectors that
// a rank receives, and algbw is busbw.
var HyperCube = register(Collective{
	Name:       "hypercube",
	Summary:    "every rank ends with all ranks' vectors, in rank order, measured by what it receives, as in nccl-tests",
	SameOutput: true,
	In:         AllGather.In,
	Out:        AllGather.Out,
	InPlace:    ownBlock,
	Parts:      AllGather.Parts,
	Size:       func(c Call) unit.Bytes { return toOthers(c, c.Elems) },
	Demand:     AllGather.Demand,
	BusFactor:  func(int) float64 { return 1 },
})
