package collective

import "kernbench/unit"

// HyperCube is an all-gather as nccl-tests measures the one along a hypercube: what counts is
// what a rank receives, the vectors of the others, and algbw is busbw.
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
