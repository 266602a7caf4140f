package bench

import (
	"context"

	"kernbench/dtype"
)

// reduceScatterDistributed leaves 64 sums on every rank.
func reduceScatterDistributed(ctx context.Context, h *Host) error {
	return h.perform(ctx, h.Algorithm, example{
		collective: "reduce_scatter",
		elems:      func(world int) int { return world * h.NElem },
		formula:    "x[i] = 100 r + i",
		input:      ramp,
	})
}

// ReduceScatterDistributed is the reduce-scatter over symmetric memory.
var ReduceScatterDistributed = Register(Program{
	Name:        "reduce_scatter_distributed",
	Summary:     "reduce-scatter over symmetric memory: stage, meet, read and reduce a chunk of 64 (--n-elem: values of a chunk)",
	Algorithm:   "window_reduce_scatter",
	Collectives: true,
	Ranks:       4,
	DType:       dtype.F32,
	NElem:       64,
	Run:         reduceScatterDistributed,
})
