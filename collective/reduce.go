package collective

import "kernbench/unit"

// Reduce combines element i of all ranks, and gives the root the result. The contents of the other
// ranks are then undefined.
var Reduce = register(Collective{
	Name:    "reduce",
	Summary: "the root ends with the reduction of all ranks' vectors",
	Reduces: true,
	Rooted:  true,
	In:      elems,
	Out:     func(c Call, rank int) int { return atRoot(c, rank, c.Elems) },
	Parts: func(dst []Part, c Call, rank int) []Part {
		if rank != c.Root {
			return dst
		}
		return append(dst, Part{N: c.Elems, From: allRanks(c)})
	},
	Demand:    func(c Call) unit.Bytes { return toOthers(c, c.Elems) },
	BusFactor: func(int) float64 { return 1 },

	Known: []string{"chain_reduce"},
})

// atRoot returns n elements for the root, and none for the others.
func atRoot(c Call, rank, n int) int {
	if rank != c.Root {
		return 0
	}
	return n
}
