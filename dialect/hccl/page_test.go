package hccl_test

import (
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
)

// The two examples of the AllReduce page: 300 elements of fp16 on four ranks. One uses one task,
// the other two tiles of 128 and one of 44.

func pageInput(rank, i int) float64 { return float64(i%100 + 10*rank) }

func pageResult(i int) float64 { return float64(4*(i%100) + 60) }

func TestPageOneTask(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		g := r.group(4, hccl.Options{})
		x, y := r.buffer(4, 300, dtype.F16, pageInput), r.buffer(4, 300, dtype.F16, nil)
		tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:doublering"))
		r.run(hccl.Launch{
			Name: "all_reduce_custom", Cores: hccl.Cores{AIC: 1, AIV: 2}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(x, y),
			Kernel: func(k *hccl.Kernel) {
				if k.CoreType() != hccl.AIV {
					return
				}
				h := k.New(hccl.Config{})
				h.InitV2(k.HcclContext(0), k.Tiling())
				if h.SetCcTilingV2(at[0]) != hccl.Success {
					return
				}
				id := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), 300, hccl.FP16, hccl.ReduceSum, 1)
				h.Wait(id)
				k.SyncAll(hccl.AIVOnly)
				h.Finalize()
			},
		})
		r.titles("AllReduce handle 0 turn 0")
		for rank := range 4 {
			r.same(y, rank, pageResult)
		}
	})
}

func TestPageTiles(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		const tileLen, tileNum, tailLen = 128, 2, 44
		g := r.group(4, hccl.Options{})
		x, y := r.buffer(4, 300, dtype.F16, pageInput), r.buffer(4, 300, dtype.F16, nil)
		tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:doublering"))
		r.run(hccl.Launch{
			Name: "all_reduce_custom", Cores: hccl.Cores{AIV: 2}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(x, y),
			Kernel: func(k *hccl.Kernel) {
				h := k.New(hccl.Config{})
				h.InitV2(k.HcclContext(0), k.Tiling())
				if h.SetCcTilingV2(at[0]) != hccl.Success {
					return
				}
				send, recv := k.GM(0), k.GM(1)
				tiles := h.AllReduce(hccl.CommitNow, send, recv, tileLen, hccl.FP16, hccl.ReduceSum, tileNum)
				const done = tileLen * tileNum * 2
				tail := h.AllReduce(hccl.CommitNow, send+done, recv+done, tailLen, hccl.FP16, hccl.ReduceSum, 1)
				for range tileNum {
					h.Wait(tiles)
				}
				h.Wait(tail)
				k.SyncAll(hccl.AIVOnly)
				h.Finalize()
			},
		})
		r.titles("AllReduce handle 0 turn 0", "AllReduce handle 0 turn 1", "AllReduce handle 1 turn 0")
		for rank := range 4 {
			r.same(y, rank, pageResult)
		}
	})
}
