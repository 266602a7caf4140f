package bench

import (
	"context"

	"kernbench/dtype"
)

// allGatherDistributed gathers 64 values of every rank. Each value identifies its origin.
func allGatherDistributed(ctx context.Context, h *Host) error {
	return h.perform(ctx, h.Algorithm, example{
		collective: "all_gather",
		elems:      func(int) int { return h.NElem },
		formula:    "x[i] = 100 r + i",
		input:      ramp,
	})
}

// ramp returns the input of most examples: the rank in hundreds, and the index.
func ramp(rank, i int) float64 { return float64(100*rank + i) }

// AllGatherDistributed is the all-gather over symmetric memory.
var AllGatherDistributed = Register(Program{
	Name:        "allgather_distributed",
	Summary:     "all-gather over symmetric memory: stage, meet, read all ranks' 64 values (--n-elem: values of a rank)",
	Algorithm:   "window_allgather",
	Collectives: true,
	Ranks:       4,
	DType:       dtype.F32,
	NElem:       64,
	Run:         allGatherDistributed,
})
