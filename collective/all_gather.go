package collective

import "kernbench/unit"

// AllGather gives every rank the vectors of all ranks, one after the other in rank order.
var AllGather = register(Collective{
	Name:       "all_gather",
	Summary:    "every rank ends with all ranks' vectors, in rank order",
	SameOutput: true,
	In:         elems,
	Out:        func(c Call, _ int) int { return c.World * c.Elems },
	InPlace:    ownBlock,
	Parts:      func(dst []Part, c Call, _ int) []Part { return everyVector(dst, c) },
	Demand:     func(c Call) unit.Bytes { return toOthers(c, c.World*c.Elems) },
	BusFactor:  func(n int) float64 { return float64(n-1) / float64(n) },

	Task:  "AllGather",
	Bench: "allgather_distributed",
	Known: []string{"ring_allgather", "nvls_allgather"},
})

// ownBlock places a contribution in the block of the result that it becomes.
func ownBlock(c Call, rank int) (in, out int) { return rank * c.Elems, 0 }
