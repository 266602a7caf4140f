package bench

import (
	"bytes"
	"context"
	"fmt"

	"kernbench/device"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// vaOffsetVerify reads and writes through virtual addresses that begin inside one PE's shard and
// end inside the next one's. It does so on all PEs of a SIP, and compares every byte. Both kernels
// shift a vector by half a shard: one by loads that cross a border, the other by stores that do.
func vaOffsetVerify(ctx context.Context, h *Host) error {
	n := 64
	if h.NElem > 0 {
		n = h.NElem
	}
	m := h.Device.Machine()
	ranks := m.CubesPerSIP() * m.PEsPerCube()
	total, shift := ranks*n, n/2
	policy := device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise}
	in, err := h.Device.Empty(1, total, h.DType, policy)
	if err != nil {
		return err
	}
	var source []byte // none in a run without data: it would not be read
	if h.Device.HasData() {
		source = make([]byte, total*h.DType.Size())
		for i := range source {
			source[i] = byte(mix(h.Seed + uint64(i)))
		}
		if err := in.CopyInBytes(source); err != nil {
			return err
		}
	}
	for _, variant := range []struct {
		name   string
		kernel tl.Kernel
		by     int // elements by which the result is rotated
	}{
		{"load", vaLoad, shift},
		{"store", vaStore, total - shift},
	} {
		out, err := h.Device.Zeros(1, total, h.DType, policy)
		if err != nil {
			return err
		}
		run, err := h.Device.LaunchKernel(ctx, "va_"+variant.name, variant.kernel, in, out, shift)
		if err != nil {
			return err
		}
		if d := run.Result.Duration(); d > 0 {
			h.Report("%d PEs %s %d bytes each, half of them in the next PE's shard: %v", ranks, variant.name, n*h.DType.Size(), d)
		}
		if h.Device.HasData() {
			got, err := out.ReadBytes()
			if err != nil {
				return err
			}
			h.ExpectBytes("bytes through a "+variant.name, got, rotate(source, variant.by*h.DType.Size()))
		}
		if err := out.Free(); err != nil {
			return err
		}
	}
	return in.Free()
}

// rotate returns b with its first n bytes moved to the end.
func rotate(b []byte, n int) []byte { return bytes.Join([][]byte{b[n:], b[:n]}, nil) }

// vaLoad copies elements of the first tensor to this PE's part of the second. They begin shift
// elements further on.
func vaLoad(c *tl.Context, a tl.Args) {
	vaShift(c, a, func(mine, other tl.Ref) { c.Store(mine, c.Load(other)) })
}

// vaStore puts this PE's part of the first tensor into the second, shift further on.
func vaStore(c *tl.Context, a tl.Args) {
	a.Tensors = []tl.Ref{a.Tensor(1), a.Tensor(0)}
	vaShift(c, a, func(mine, other tl.Ref) { c.Store(other, c.Load(mine)) })
}

// vaShift pairs this PE's part of the second tensor with as many elements of the first, from shift
// further on. Elements beyond the end continue at the beginning.
func vaShift(c *tl.Context, a tl.Args, move func(mine, other tl.Ref)) {
	from, to := a.Tensor(0), a.Tensor(1)
	total, n := to.Len(), a.NElem
	at := func(r tl.Ref, lo, n int) tl.Ref {
		return c.Ref(r.Addr+mem.Addr(lo*a.DType.Size()), tl.Dims(n), a.DType)
	}
	lo := c.Rank() * n
	first := min(n, total-(lo+a.Int(0)))
	move(at(to, lo, first), at(from, lo+a.Int(0), first))
	if first < n {
		move(at(to, lo+first, n-first), at(from, 0, n-first))
	}
}

// ExpectBytes compares results byte by byte.
func (h *Host) ExpectBytes(what string, got, want []byte) {
	asValues := func(b []byte) []float64 {
		v := make([]float64, len(b))
		for i := range v {
			v[i] = dtype.At(dtype.U8, b, i)
		}
		return v
	}
	if len(got) != len(want) {
		what = fmt.Sprintf("%s (%d bytes, not %d)", what, len(got), len(want))
	}
	h.Expect(what, asValues(got), asValues(want), make([]float64, len(want)))
}

// VAOffsetVerify checks the address map.
var VAOffsetVerify = Register(Program{
	Name:    "va_offset_verify",
	Summary: "loads and stores through virtual addresses that cross from shard to shard; every byte is compared",
	Run:     vaOffsetVerify,
})
