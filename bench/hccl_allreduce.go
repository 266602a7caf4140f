package bench

import (
	"context"
	"fmt"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
)

// hcclAllReduce does the same all-reduce in one task and in tiles: two tiles as two turns of one
// task, and the rest in another task.
func hcclAllReduce(ctx context.Context, h *Host) error {
	t, err := h.tasks("hccl_allreduce", hccl.OpAllReduce, hccl.Cores{AIV: h.Number("aiv")}, nil)
	if err != nil {
		return err
	}
	n := h.NElem
	p, err := tilesOf(n, h.Number("tile"))
	if err != nil {
		return err
	}
	x, err := h.Vector("x", t.pes, n, nil)
	if err != nil {
		return err
	}
	if err := t.contribute(x); err != nil {
		return err
	}
	y, err := h.Vector("y", t.pes, n, nil)
	if err != nil {
		return err
	}
	z, err := h.Vector("y of tiles", t.pes, n, nil)
	if err != nil {
		return err
	}
	one, err := t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		id := o.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), uint64(n), t.typ, t.op, 1)
		o.Wait(id)
	}, x, y)
	if err != nil {
		return err
	}
	tiled, err := t.launch(ctx, func(k *hccl.Kernel, o *hccl.Hccl) {
		ids := make([]hccl.Handle, len(p))
		for i, s := range p {
			send, recv := k.Buffer(0).Slice(s.lo, 0), k.Buffer(1).Slice(s.lo, 0)
			ids[i] = o.AllReduce(hccl.CommitNow, send.Addr, recv.Addr, uint64(s.n), t.typ, t.op, s.repeat)
		}
		p.wait(o, ids)
	}, x, z)
	if err != nil {
		return err
	}
	h.Measure(one, tiled)
	h.Report("all-reduce of %d %v on %d ranks, %s:", n, h.DType, len(t.pes), h.alg(hccl.OpAllReduce))
	h.Report("  one task                      %s", took(one))
	h.Report("  tiles of %-20s %s", p.describe(), took(tiled))
	if err := t.agree("tiles against one task", z, y); err != nil {
		return err
	}
	return t.free(x, y, z)
}

// split is the part of a vector of one task: repeat turns of n elements from lo on.
type split struct {
	lo, n  int
	repeat uint8
}

type splits []split

// wait waits for all turns of the tasks, in their order.
func (p splits) wait(o *hccl.Hccl, ids []hccl.Handle) {
	for i, s := range p {
		for range s.repeat {
			o.Wait(ids[i])
		}
	}
}

// tilesOf splits n elements into whole tiles and the rest.
func tilesOf(n, tile int) (splits, error) {
	whole := n / tile
	if whole > 255 {
		return nil, fmt.Errorf("%d elements in tiles of %d are %d turns: a task has at most 255", n, tile, whole)
	}
	var p splits
	if whole > 0 {
		p = append(p, split{n: tile, repeat: uint8(whole)})
	}
	if rest := n - whole*tile; rest > 0 {
		p = append(p, split{lo: whole * tile, n: rest, repeat: 1})
	}
	return p, nil
}

// turns returns the total number of parts.
func (p splits) turns() int {
	n := 0
	for _, s := range p {
		n += int(s.repeat)
	}
	return n
}

func (p splits) describe() string {
	s := ""
	for i := range p {
		if i > 0 {
			s += " + "
		}
		s += fmt.Sprintf("%d × %d", p[i].repeat, p[i].n)
	}
	return s
}

// HcclAllReduce has the two examples of AllReduce of the vendor's page.
var HcclAllReduce = Register(Program{
	Name:     "hccl_allreduce",
	Summary:  "task API: all-reduce of 300 elements in one task, and again in tiles of 2 × 128 + 44 by repeat",
	Parallel: true,
	Chosen:   true,
	Combines: true,
	Ranks:    4,
	DType:    dtype.F16,
	NElem:    300,
	Options: []Option{
		algOption(hccl.OpAllReduce), aivOption,
		{Name: "tile", Kind: Number, Default: "128", Min: 1, Help: "elements of a tile"},
	},
	Run: hcclAllReduce,
})
