package collective

import "kernbench/unit"

// AllReduce combines element i of all ranks, and gives every rank the result.
//
// Demand: each element has N-1 operands that must reach the N-th, and a result that must reach N-1
// ranks. That is 2(N-1) times M bytes, or 2(N-1)/N M per rank.
var AllReduce = register(Collective{
	Name:       "all_reduce",
	Summary:    "every rank ends with the reduction of all ranks' vectors",
	Reduces:    true,
	SameOutput: true,
	In:         elems,
	Out:        elems,
	Parts: func(dst []Part, c Call, _ int) []Part {
		return append(dst, Part{N: c.Elems, From: allRanks(c)})
	},
	Demand:    func(c Call) unit.Bytes { return 2 * toOthers(c, c.Elems) },
	BusFactor: func(n int) float64 { return 2 * float64(n-1) / float64(n) },

	Task:  "AllReduce",
	Bench: "ccl_allreduce",
	Known: []string{
		"ring_allreduce_chunked", "double_tree_allreduce", "direct_allreduce", "window_allreduce_onephase_push", "nvls_allreduce",
	},
	KnownNCCL:  []string{"ring_allreduce_chunked", "nvls_allreduce"},
	KnownRails: []string{"node_tree_allreduce", "nvls_tree_allreduce"},
	Least:      "ring_allreduce_chunked",
})
