package collective

import "kernbench/unit"

// Scatter gives block r of the root's vector to rank r. A block is Elems/World elements, and
// the root alone brings something.
var Scatter = register(Collective{
	Name:    "scatter",
	Summary: "rank r ends with block r of the root's vector",
	Rooted:  true,
	Blocks:  true,
	In:      func(c Call, rank int) int { return atRoot(c, rank, c.Elems) },
	Out:     func(c Call, _ int) int { return c.Elems / c.World },
	InPlace: func(c Call, rank int) (in, out int) {
		if rank != c.Root {
			return 0, 0 // such a rank brings nothing
		}
		return 0, rank * (c.Elems / c.World)
	},
	Parts: func(dst []Part, c Call, rank int) []Part {
		n := c.Elems / c.World
		return append(dst, Part{N: n, From: onlyRank(c.Root), Base: int64(rank * n)})
	},
	Demand:    func(c Call) unit.Bytes { return toOthers(c, c.Elems/c.World) },
	BusFactor: func(n int) float64 { return float64(n-1) / float64(n) },
})
