package bench

import (
	"context"

	"kernbench/dtype"
)

// allToAllDistributed exchanges blocks of 64 values between all pairs of ranks.
func allToAllDistributed(ctx context.Context, h *Host) error {
	return h.perform(ctx, h.Algorithm, example{
		collective: "all_to_all",
		elems:      func(world int) int { return world * h.NElem },
		formula:    "x[d n + j] = 1000 r + 100 d + j for rank d",
		input:      func(rank, i int) float64 { return float64(1000*rank + 100*(i/h.NElem) + i%h.NElem) },
	})
}

// AllToAllDistributed is the all-to-all over symmetric memory.
var AllToAllDistributed = Register(Program{
	Name:        "all_to_all_distributed",
	Summary:     "all-to-all over symmetric memory: put a block of 64 to each rank, meet, copy out (--n-elem: values of a block)",
	Algorithm:   "window_all_to_all",
	Collectives: true,
	Ranks:       4,
	DType:       dtype.F32,
	NElem:       64,
	Run:         allToAllDistributed,
})
