package collective

import "kernbench/unit"

// AllToAll sends block d of every rank's vector to rank d, which ends with these blocks in rank
// order. A block is Elems/World elements.
//
// Each rank keeps one block of its own, so that (N-1)/N of all elements must cross.
var AllToAll = register(Collective{
	Name:    "all_to_all",
	Summary: "rank r ends with block r of every rank's vector, in rank order",
	Blocks:  true,
	In:      elems,
	Out:     elems,
	Parts: func(dst []Part, c Call, rank int) []Part {
		n := c.Elems / c.World
		for r := range c.World {
			dst = append(dst, Part{N: n, From: onlyRank(r), Base: int64(rank * n)})
		}
		return dst
	},
	Demand:    func(c Call) unit.Bytes { return toOthers(c, c.Elems) },
	BusFactor: func(n int) float64 { return float64(n-1) / float64(n) },

	NCCL:  "alltoall",
	Task:  "AlltoAll",
	Bench: "all_to_all_distributed",
})
