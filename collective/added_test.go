package collective

import "kernbench/unit"

// A collective that only tests know. This file is all that there is to it.
var _ = register(Collective{
	Name:    "test_swap",
	Summary: "ranks 2k and 2k+1 change vectors",
	In:      elems,
	Out:     elems,
	Parts: func(dst []Part, c Call, rank int) []Part {
		from := rank ^ 1
		if from >= c.World {
			from = rank
		}
		return append(dst, Part{N: c.Elems, From: onlyRank(from)})
	},
	Demand:    func(c Call) unit.Bytes { return c.bytes(c.World / 2 * 2 * c.Elems) },
	BusFactor: func(int) float64 { return 1 },

	NCCL:  "swap",
	Bench: "test_swap_bench",
	Known: []string{"test_swap_pairs"},
})
