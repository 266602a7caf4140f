package bench

import (
	"context"

	"kernbench/device"
	"kernbench/dtype"
)

// broadcastDistributed copies 64 values of the root to all ranks.
func broadcastDistributed(ctx context.Context, h *Host) error {
	root := h.Number("root")
	return h.perform(ctx, h.Algorithm, example{
		collective: "broadcast",
		elems:      func(int) int { return h.NElem },
		formula:    "x[i] = 100 r + i at the root, 0 elsewhere",
		input: func(rank, i int) float64 {
			if rank != root {
				return 0
			}
			return ramp(rank, i)
		},
		options: []device.Option{device.Root(root)},
	})
}

// BroadcastDistributed is the broadcast over symmetric memory.
var BroadcastDistributed = Register(Program{
	Name:        "broadcast_distributed",
	Summary:     "broadcast over symmetric memory: the root stages, all meet, every rank reads (--n-elem: values of the root)",
	Algorithm:   "window_broadcast",
	Collectives: true,
	Ranks:       4,
	DType:       dtype.F32,
	NElem:       64,
	Options:     []Option{{Name: "root", Kind: Number, Default: "0", Help: "rank whose values all ranks get"}},
	Run:         broadcastDistributed,
})
