// guide: hccl one task

package main

import (
	"context"
	"errors"
	"strings"

	"kernbench/device"
	"kernbench/dialect/hccl"
)

// allReduceCustom adds up 300 elements of each device, in one task.
func allReduceCustom(k *hccl.Kernel) {
	if k.CoreType() != hccl.AIV { // the AIV cores communicate
		return
	}
	h := k.New(hccl.Config{})
	h.InitV2(k.HcclContext(0), k.Tiling())
	if h.SetCcTilingV2(k.Tiling().Offsets()[0]) != hccl.Success {
		return
	}
	id := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), 300, hccl.FP16, hccl.ReduceSum, 1)
	h.Wait(id)
	k.SyncAll(hccl.AIVOnly) // every core has waited before one finalizes
	h.Finalize()
}

// end

// guide: hccl tiles
// allReduceTiles does the same in two tiles of 128 elements and one of 44.
func allReduceTiles(k *hccl.Kernel) {
	const tileLen, tileNum, tailLen = 128, 2, 44
	h := k.New(hccl.Config{})
	h.InitV2(k.HcclContext(0), k.Tiling())
	if h.SetCcTilingV2(k.Tiling().Offsets()[0]) != hccl.Success {
		return
	}
	send, recv := k.GM(0), k.GM(1)
	tiles := h.AllReduce(hccl.CommitNow, send, recv, tileLen, hccl.FP16, hccl.ReduceSum, tileNum)
	const done = tileLen * tileNum * 2 // bytes
	tail := h.AllReduce(hccl.CommitNow, send+done, recv+done, tailLen, hccl.FP16, hccl.ReduceSum, 1)
	for range tileNum {
		h.Wait(tiles)
	}
	h.Wait(tail)
	k.SyncAll(hccl.AIVOnly)
	h.Finalize()
}

// end

// guide: hccl compute
// twice computes a tile, commits its turn and computes the next: the sum of x + x in three turns.
func twice(k *hccl.Kernel) {
	h := k.New(hccl.Config{})
	h.InitV2(k.HcclContext(0), k.Tiling())
	h.SetCcTilingV2(k.Tiling().Offsets()[0])
	id := h.AllReduce(hccl.CommitLater, k.GM(0), k.GM(1), 100, hccl.FP16, hccl.ReduceSum, 3)
	for i := range 3 {
		if i%k.BlockNum() == k.BlockIdx() { // the cores share the tiles
			tile := k.Buffer(0).Slice(100*i, 100)
			x := k.Load(tile)
			k.Store(tile, k.Add(x, x))
		}
		k.SyncAll(hccl.AIVOnly) // the stores of all cores come before the commit
		h.Commit(id)
	}
	h.Finalize() // waits for all turns
}

// end

// guide: hccl host
// reduceOn adds up x of some devices into their y: 300 fp16 elements on each.
func reduceOn(ctx context.Context, dev *device.Context, pes []int32, kernel func(k *hccl.Kernel), x, y []*device.Tensor) error {
	world, err := hccl.NewComm(dev, "world", pes, hccl.Options{}) // PEs, by rank
	if err != nil {
		return err
	}
	tiling := hccl.NewTiling()
	tiling.AddInit()
	tiling.AddCc(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:doublering"))
	if err := tiling.Err(); err != nil { // names the rejected settings, if any
		return err
	}
	l := hccl.Launch{
		Name: "all_reduce_custom", Kernel: kernel, Cores: hccl.Cores{AIV: 2},
		Comms: []*hccl.Comm{world}, Tiling: tiling,
		Buffers: [][]*device.Tensor{x, y}, // Buffer(0) and Buffer(1) of the kernel
	}
	_, err = l.Run(ctx) // returns when all cores and all tasks have ended
	return errors.Join(err, world.Free())
}

// end

// guide: hccl forgotten commit
func forgottenCommit(k *hccl.Kernel) {
	h := k.New(hccl.Config{})
	h.InitV2(k.HcclContext(0), k.Tiling())
	h.SetCcTilingV2(k.Tiling().Offsets()[0])
	id := h.AllReduce(hccl.CommitLater, k.GM(0), k.GM(1), 150, hccl.FP16, hccl.ReduceSum, 2)
	h.Commit(id) // the first turn; the second is never committed
	h.Wait(id)
	k.SyncAll(hccl.AIVOnly)
	h.Finalize()
}

// end

const hcclPage = "../hccl.md"

// cells returns the rows of the first table of a section, without its head.
func cells(text string) [][]string {
	var rows [][]string
	for line := range strings.SplitSeq(text, "\n") {
		row, ok := strings.CutPrefix(line, "| ")
		if !ok {
			if rows != nil && !strings.HasPrefix(line, "|") {
				break
			}
			continue
		}
		rows = append(rows, strings.Split(strings.TrimSuffix(row, " |"), " | "))
	}
	return rows[1:]
}
