package bench

import (
	"context"
	"fmt"

	"kernbench/dialect/hccl"
)

// hcclReduceScatterTiled does the same reduce-scatter three times: at once, by one task with a turn
// for each tile, and by one task per tile. In the last, the kernel advances the buffers itself.
func hcclReduceScatterTiled(ctx context.Context, h *Host) error {
	t, err := h.tasks("hccl_reducescatter_tiled", hccl.OpReduceScatter, hccl.Cores{AIV: h.Number("aiv")}, nil)
	if err != nil {
		return err
	}
	n, tiles, world := h.NElem, h.Number("tiles"), len(t.pes)
	if n%tiles != 0 {
		return fmt.Errorf("--n-elem %d: the elements of a block do not divide into %d tiles", n, tiles)
	}
	tile := n / tiles
	x, err := h.Vector("x", t.pes, n*world, nil)
	if err != nil {
		return err
	}
	if err := t.contribute(x); err != nil {
		return err
	}
	var y [3]*Vector
	for i, name := range []string{"y", "y of turns", "y of tasks"} {
		if y[i], err = h.Vector(name, t.pes, n, nil); err != nil {
			return err
		}
	}
	one, err := t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		id := o.ReduceScatter(hccl.CommitNow, k.GM(0), k.GM(1), uint64(n), t.typ, t.op, 0, 1)
		o.Wait(id)
	}, x, y[0])
	if err != nil {
		return err
	}
	turns, err := t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		id := o.ReduceScatter(hccl.CommitNow, k.GM(0), k.GM(1), uint64(tile), t.typ, t.op, uint64(n), uint8(tiles))
		for range tiles {
			o.Wait(id)
		}
	}, x, y[1])
	if err != nil {
		return err
	}
	several, err := t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		ids := make([]hccl.Handle, tiles)
		for i := range ids {
			send, recv := k.Buffer(0).Slice(i*tile, 0), k.Buffer(1).Slice(i*tile, 0)
			ids[i] = o.ReduceScatter(hccl.CommitNow, send.Addr, recv.Addr, uint64(tile), t.typ, t.op, uint64(n), 1)
		}
		for _, id := range ids {
			o.Wait(id)
		}
	}, x, y[2])
	if err != nil {
		return err
	}
	h.Measure(one, turns, several)
	h.Report("reduce-scatter of %d blocks of %d %v on %d ranks, %s:", world, n, h.DType, world, h.alg(hccl.OpReduceScatter))
	h.Report("  one task                  %s", took(one))
	h.Report("  one task, %2d turns of %-4d %s", tiles, tile, took(turns))
	h.Report("  %2d tasks of %-4d          %s", tiles, tile, took(several))
	for i, what := range []string{"turns against one task", "tasks against one task"} {
		if err := t.agree(what, y[1+i], y[0]); err != nil {
			return err
		}
	}
	return t.free(x, y[0], y[1], y[2])
}

// HcclReduceScatterTiled is repeat against calls.
var HcclReduceScatterTiled = Register(Program{
	Name:     "hccl_reducescatter_tiled",
	Summary:  "task API: reduce-scatter of blocks of 300 in 3 tiles: by repeat 3 with a stride of 300, and by 3 calls",
	Parallel: true,
	Chosen:   true,
	Combines: true,
	Ranks:    4,
	NElem:    300,
	Options: []Option{
		algOption(hccl.OpReduceScatter), aivOption,
		{Name: "tiles", Kind: Number, Default: "3", Min: 1, Max: hccl.MaxTasks, Help: "tiles of a block"},
	},
	Run: hcclReduceScatterTiled,
})
