package hccl_test

import (
	"context"
	"testing"

	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/tl"
)

// BenchmarkTurn is a turn of an all-reduce on four ranks, timing only: prepared in tasks of 200
// turns, committed, performed and waited for. Beside it is the same algorithm without tasks.
func BenchmarkTurn(b *testing.B) {
	for _, alg := range []string{"fullmesh", "ring", "doublering"} {
		b.Run(alg, func(b *testing.B) {
			const turns, elems = 200, 64
			r := openRig(b, runMode{timed: true, bare: true})
			g := r.group(4, hccl.Options{})
			x := r.buffer(4, turns*elems, dtype.F16, nil)
			tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:"+alg))
			l := hccl.Launch{
				Name: "turns", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(x),
				Kernel: func(k *hccl.Kernel) {
					h := k.New(hccl.Config{})
					h.InitV2(k.HcclContext(0), k.Tiling())
					h.SetCcTilingV2(at[0])
					id := h.AllReduce(hccl.CommitLater, k.GM(0), k.GM(0), elems, hccl.FP16, hccl.ReduceSum, turns)
					for range turns {
						h.Commit(id)
						h.Wait(id)
					}
					h.Finalize()
				},
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/turns, "ns/turn")
		})
		b.Run(alg+"/without tasks", func(b *testing.B) {
			r := openRig(b, runMode{timed: true, bare: true})
			plan, err := r.Device.InstallIPCQ("window_allreduce_"+map[string]string{"fullmesh": "twophase",
				"ring": "ring", "doublering": "bidirectional_ring"}[alg], device.Install{World: 4})
			if err != nil {
				b.Fatal(err)
			}
			x := r.buffer(4, 64, dtype.F16, nil)
			for b.Loop() {
				if _, err := r.Device.Perform(context.Background(), plan, tl.Sum, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
