package collective

import "kernbench/unit"

// Gather gives the root the vectors of all ranks, one after the other in rank order.
var Gather = register(Collective{
	Name:    "gather",
	Summary: "the root ends with all ranks' vectors, in rank order",
	Rooted:  true,
	In:      elems,
	Out:     func(c Call, rank int) int { return atRoot(c, rank, c.World*c.Elems) },
	InPlace: func(c Call, rank int) (in, out int) {
		if rank != c.Root {
			return 0, 0 // such a rank ends with nothing
		}
		return ownBlock(c, rank)
	},
	Parts: func(dst []Part, c Call, rank int) []Part {
		if rank != c.Root {
			return dst
		}
		return everyVector(dst, c)
	},
	Demand:    func(c Call) unit.Bytes { return toOthers(c, c.Elems) },
	BusFactor: func(n int) float64 { return float64(n-1) / float64(n) },
})

// everyVector appends the vectors of all ranks, in rank order.
func everyVector(dst []Part, c Call) []Part {
	for r := range c.World {
		dst = append(dst, Part{N: c.Elems, From: onlyRank(r)})
	}
	return dst
}
