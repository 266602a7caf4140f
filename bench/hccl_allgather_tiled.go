package bench

import (
	"context"

	"kernbench/dialect/hccl"
)

// hcclAllGatherTiled gathers vectors tile by tile. The blocks of the ranks are a whole
// vector apart, and each turn fills a tile of all blocks.
func hcclAllGatherTiled(ctx context.Context, h *Host) error {
	t, err := h.tasks("hccl_allgather_tiled", hccl.OpAllGather, hccl.Cores{AIV: h.Number("aiv")}, nil)
	if err != nil {
		return err
	}
	n, world := h.NElem, len(t.pes)
	p, err := tilesOf(n, h.Number("tile"))
	if err != nil {
		return err
	}
	in, err := h.inputs(world, n)
	if err != nil {
		return err
	}
	x, err := h.Vector("x", t.pes, n, func(rank int) []float64 { return in.Vector(rank, n) })
	if err != nil {
		return err
	}
	y, err := h.Vector("y", t.pes, n*world, nil)
	if err != nil {
		return err
	}
	z, err := h.Vector("y of tiles", t.pes, n*world, nil)
	if err != nil {
		return err
	}
	one, err := t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		id := o.AllGather(hccl.CommitNow, k.GM(0), k.GM(1), uint64(n), t.typ, 0, 1)
		o.Wait(id)
	}, x, y)
	if err != nil {
		return err
	}
	tiled, err := t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		ids := make([]hccl.Handle, len(p))
		for i, s := range p {
			send, recv := k.Buffer(0).Slice(s.lo, 0), k.Buffer(1).Slice(s.lo, 0)
			ids[i] = o.AllGather(hccl.CommitNow, send.Addr, recv.Addr, uint64(s.n), t.typ, uint64(n), s.repeat)
		}
		p.wait(o, ids)
	}, x, z)
	if err != nil {
		return err
	}
	h.Measure(one, tiled)
	h.Report("all-gather of %d %v from each of %d ranks, %s:", n, h.DType, world, h.alg(hccl.OpAllGather))
	h.Report("  one task                            %s", took(one))
	h.Report("  tiles of %-26s %s", p.describe(), took(tiled))
	if err := t.agree("tiles against one task", z, y); err != nil {
		return err
	}
	return t.free(x, y, z)
}

// HcclAllGatherTiled is tiles with a stride.
var HcclAllGatherTiled = Register(Program{
	Name:     "hccl_allgather_tiled",
	Summary:  "task API: all-gather of 300 elements of each rank in tiles of 2 × 128 + 44, blocks a stride of 300 apart",
	Parallel: true,
	Chosen:   true,
	Ranks:    4,
	NElem:    300,
	Options: []Option{
		algOption(hccl.OpAllGather), aivOption,
		{Name: "tile", Kind: Number, Default: "128", Min: 1, Help: "elements of a tile"},
	},
	Run: hcclAllGatherTiled,
})
