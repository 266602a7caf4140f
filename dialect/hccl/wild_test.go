package hccl_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"

	"pgregory.net/rapid"
)

// call is one call of a wild program, with arguments that may be anything.
type call struct {
	kind         int
	a, b         mem.Addr
	n, m         uint64
	typ          uint8
	op           uint8
	repeat       uint8
	commit, side uint8
	id           int8
	list         []uint64
	number       int
}

var (
	sizes     = []uint64{0, 1, 2, 10, 74, 75, 76, 300, 1 << 31, 1 << 36, 1 << 62, 1 << 63, math.MaxUint64}
	addresses = []mem.Addr{0, 1, 4, mem.At(mem.HBM, 0, 0), mem.At(mem.HBM, 15, mem.MaxOffset), mem.At(mem.TCM, 0, 64),
		mem.At(mem.SRAM, 1, 0), 1 << 62, 1 << 63, math.MaxUint64}
	numbers = []int{math.MinInt, -1, 0, 1, 2, 63, 64, 344, 624, math.MaxInt}
)

// drawCall draws one. Small addresses denote buffers: see at.
func drawCall(t *rapid.T) call {
	size := rapid.SampledFrom(sizes)
	some := rapid.OneOf(rapid.SampledFrom(addresses), rapid.SampledFrom([]mem.Addr{8, 12, 16}))
	return call{
		kind: rapid.IntRange(0, 16).Draw(t, "kind"), a: some.Draw(t, "a"), b: some.Draw(t, "b"),
		n: size.Draw(t, "n"), m: size.Draw(t, "m"), typ: rapid.Uint8Range(0, 20).Draw(t, "type"), op: rapid.Uint8Range(0, 5).Draw(t, "op"),
		repeat: rapid.SampledFrom([]uint8{0, 1, 2, 255}).Draw(t, "repeat"),
		commit: rapid.Uint8Range(0, 2).Draw(t, "commit"), side: rapid.Uint8Range(0, 2).Draw(t, "side"),
		id: rapid.OneOf(rapid.Int8Range(0, 3), rapid.Int8()).Draw(t, "id"), list: rapid.SliceOfN(size, 0, 3).Draw(t, "list"),
		number: rapid.SampledFrom(numbers).Draw(t, "number"),
	}
}

// at returns the buffer that a small address denotes, or the address itself.
func (c *call) at(k *hccl.Kernel, a mem.Addr) mem.Addr {
	switch a {
	case 8:
		return k.GM(0)
	case 12:
		return k.GM(1)
	case 16:
		return k.GM(1) + 296
	}
	return a
}

func (c *call) make(k *hccl.Kernel, h *hccl.Hccl) {
	a, b, commit, typ := c.at(k, c.a), c.at(k, c.b), hccl.Release(c.commit), hccl.DataType(c.typ)
	switch c.kind {
	case 0:
		h.InitV2(k.HcclContext(c.number), k.Tiling())
	case 1:
		h.SetCcTilingV2(c.number)
	case 2:
		h.AllReduce(commit, a, b, c.n, typ, hccl.ReduceOp(c.op), c.repeat)
	case 3:
		h.AllGather(commit, a, b, c.n, typ, c.m, c.repeat)
	case 4:
		h.ReduceScatter(commit, a, b, c.n, typ, hccl.ReduceOp(c.op), c.m, c.repeat)
	case 5:
		h.AlltoAll(commit, a, b, c.n, typ, c.m, c.repeat)
	case 6:
		h.AlltoAllV(commit, a, c.list, []uint64{c.n, c.m}, typ, b, c.list, []uint64{c.m, c.n}, typ, c.repeat)
	case 7:
		h.BatchWrite([]hccl.BatchItem{{Dst: a, Src: b, Count: c.n, DataType: typ}})
	case 8, 9:
		h.Commit(hccl.Handle(c.id))
	case 10, 11:
		h.Wait(hccl.Handle(c.id))
	case 12:
		h.Query(hccl.Handle(c.id))
	case 13:
		h.Iterate(hccl.Side(c.side), hccl.Handle(c.id), make([]int, len(c.list)))
	case 14:
		h.InterHcclGroupSync(c.number, hccl.Handle(c.id))
	case 15:
		h.GetWindowsInAddr(c.number)
	case 16:
		h.Finalize()
	}
}

// ignoring ignores wrong results: programs may write over the results that they have.
type ignoring struct{ tester }

func (ignoring) Errorf(string, ...any) {}

// Programs of any calls with any arguments end: nothing panics, and nothing is left of them.
func TestWildPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alike := rapid.Bool().Draw(t, "alike")
		var calls [2][]call
		for rank := range calls {
			calls[rank] = rapid.SliceOfN(rapid.Custom(drawCall), 0, 12).Draw(t, "calls")
		}
		if alike {
			calls[1] = calls[0]
		}
		r := openRig(ignoring{t}, runMode{timed: rapid.Bool().Draw(t, "timed"), seed: rapid.Uint64Range(0, 3).Draw(t, "seed")})
		g := r.group(2, hccl.Options{Buffer: 64})
		x, y := r.buffer(2, 75, dtype.F32, pageInput), r.buffer(2, 75, dtype.F32, pageInput)
		var ccs []*hccl.CcTiling
		for _, op := range hccl.OpTypes() {
			ccs = append(ccs, hccl.NewCcTiling("world", op, hccl.DefaultAlgConfig(op)))
		}
		ccs[3].SetStepSize(1) // AlltoAllV
		tiling, at := r.tiling(ccs...)
		l := hccl.Launch{
			Name: "wild", Cores: hccl.Cores{AIC: rapid.IntRange(0, 1).Draw(t, "AIC"), AIV: 1}, Comms: []*hccl.Comm{g},
			Tiling: tiling, Buffers: tensors(x, y),
			Kernel: func(k *hccl.Kernel) {
				h := k.New(hccl.Config{Server: hccl.OnAIV})
				h.InitV2(k.HcclContext(0), k.Tiling())
				for _, off := range at {
					h.SetCcTilingV2(off)
				}
				for _, c := range calls[k.Rank()] {
					c.make(k, h)
				}
			},
		}
		out, err := l.Run(context.Background())
		if (out == nil) == (err == nil) {
			t.Fatalf("outcome %v, error %v", out, err)
		}
		if p, ok := errors.AsType[*fault.Panic](err); ok {
			t.Fatalf("%v\n%s", p, p.Stack)
		}
		r.tester = t
		leavesNothing(r, g, x, y)
	})
}
