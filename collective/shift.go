package collective

import "kernbench/unit"

// Shift rotates the vectors by one rank: r ends with what r-1 brought, 0 with what the
// last one brought.
var Shift = register(Collective{
	Name:    "shift",
	Summary: "rank r ends with the vector of rank r-1, rank 0 with that of the last",
	In:      elems,
	Out:     elems,
	Parts: func(dst []Part, c Call, rank int) []Part {
		return append(dst, Part{N: c.Elems, From: onlyRank((rank + c.World - 1) % c.World)})
	},
	Demand: func(c Call) unit.Bytes {
		if c.World == 1 {
			return 0
		}
		return c.bytes(c.World * c.Elems)
	},
	BusFactor: func(int) float64 { return 1 },
})
