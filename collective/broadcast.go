package collective

import "kernbench/unit"

// Broadcast gives every rank the root's vector.
var Broadcast = register(Collective{
	Name:       "broadcast",
	Summary:    "every rank ends with the root's vector",
	Rooted:     true,
	SameOutput: true,
	In:         elems,
	Out:        elems,
	Parts: func(dst []Part, c Call, _ int) []Part {
		return append(dst, Part{N: c.Elems, From: onlyRank(c.Root)})
	},
	Demand:    func(c Call) unit.Bytes { return toOthers(c, c.Elems) },
	BusFactor: func(int) float64 { return 1 },

	Bench: "broadcast_distributed",
	Known: []string{"chain_broadcast"},
})
