package hccl_test

import (
	"context"
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
)

// A rank whose tasks move nothing leaves the others waiting. A diagnostic reports that in addition
// to the deadlock.
func TestSilenceOfOneRank(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		g := r.group(4, hccl.Options{})
		send, recv := r.buffer(4, 300, dtype.F32, pageInput), r.buffer(4, 300, dtype.F32, nil)
		speaks := hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:ring")
		silent := hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:ring")
		silent.SetDebugMode(1)
		tiling, at := r.tiling(speaks, silent)
		l := hccl.Launch{
			Name: "silence", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(send, recv),
			Kernel: func(k *hccl.Kernel) {
				h := k.New(hccl.Config{})
				h.InitV2(k.HcclContext(0), k.Tiling())
				h.SetCcTilingV2(at[0])
				if h.GetRankID() == 2 {
					h.SetCcTilingV2(at[1])
				}
				h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), 300, hccl.FP32, hccl.ReduceSum, 1)
				h.Finalize()
			},
		}
		_, err := l.Run(context.Background())
		wantRules(t, err, []hccl.Rule{hccl.Mismatch}, "deadlock", "handle 0 of rank 2 is not that of rank 0", "switches communication off")
	})
}
