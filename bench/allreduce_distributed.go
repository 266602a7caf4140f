package bench

import (
	"context"
	"fmt"

	"kernbench/dtype"
)

const allReduceMode = "window_allreduce_"

// allReduceDistributed reduces 256 values by one of several algorithms over symmetric memory.
func allReduceDistributed(ctx context.Context, h *Host) error {
	algorithm := allReduceMode + h.Word("mode")
	if h.Algorithm != h.program.Algorithm {
		if h.Chosen("mode") {
			return fmt.Errorf("algorithm %s and --mode %s: both choose the algorithm; give one of them", h.Algorithm, h.Word("mode"))
		}
		algorithm = h.Algorithm
	}
	return h.perform(ctx, algorithm, example{
		collective: "all_reduce",
		elems:      func(int) int { return h.NElem },
		formula:    "x[i] = 100 r + i",
		input:      ramp,
	})
}

// AllReduceDistributed is the all-reduce over symmetric memory.
var AllReduceDistributed = Register(Program{
	Name:        "allreduce_distributed",
	Summary:     "all-reduce of 256 values over symmetric memory, in one phase, in two, or on rings (--n-elem: values of a rank)",
	Algorithm:   allReduceMode + "onephase",
	Collectives: true,
	Ranks:       4,
	DType:       dtype.F32,
	NElem:       256,
	Options: []Option{{
		Name: "mode", Default: "onephase", Words: []string{"onephase", "twophase", "ring", "bidirectional_ring"},
		Help: "in this order: every rank reads everything; reduce-scatter and all-gather; the same on a ring; the same on two half rings",
	}},
	Run: allReduceDistributed,
})
