package bench

import (
	"fmt"
	"math"
	"slices"

	"kernbench/device"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// vector is private memory of some PEs, n elements on each: a tensor on every SIP that has
// some of them, or several where one cannot have as many elements.
type vector struct {
	h       *Host
	n       int
	tensors []*device.Tensor
}

// vector makes private memory, by rank the elements that fill gives; nil leaves it unwritten.
func (h *Host) vector(name string, pes []int32, n int, fill func(rank int) []float64) (*vector, error) {
	v := &vector{h: h, n: n}
	rank := 0
	for sip, all := range h.bySIP(pes) {
		if err := h.Device.SetDevice(sip); err != nil {
			return nil, err
		}
		for some := range slices.Chunk(all, max(1, math.MaxInt32/max(1, n))) {
			x, err := h.Device.EmptyOn(some, n, h.DType)
			if err != nil {
				return nil, err
			}
			v.tensors = append(v.tensors, x.Named(fmt.Sprintf("%s on SIP %d", name, sip)))
			if fill != nil && h.Device.HasData() {
				var values []float64
				for i := range some {
					values = append(values, fill(rank+i)...)
				}
				if err := x.CopyIn(values); err != nil {
					return nil, err
				}
			}
			rank += len(some)
		}
	}
	return v, h.Device.SetDevice(0)
}

// read is what a rank's elements are now.
func (v *vector) read(rank int) ([]float64, error) {
	for _, x := range v.tensors {
		shards := x.Shards()
		if rank >= len(shards) {
			rank -= len(shards)
			continue
		}
		data, err := x.ReadShard(shards[rank])
		if err != nil {
			return nil, err
		}
		values := make([]float64, v.n)
		for i := range values {
			values[i] = dtype.At(v.h.DType, data, i)
		}
		return values, nil
	}
	return nil, fmt.Errorf("there is no rank %d more", rank)
}

// on is a rank's elements, for streams.
func (v *vector) on(rank int) device.Memory {
	for _, x := range v.tensors {
		shards := x.Shards()
		if rank < len(shards) {
			return x.On(shards[rank].Rank)
		}
		rank -= len(shards)
	}
	return device.Memory{}
}

// expect compares a rank's elements with what they should be, exactly. It asks for nothing in
// a run without data.
func (v *vector) expect(what string, rank int, want func() []float64) error {
	if !v.h.Device.HasData() {
		return nil
	}
	got, err := v.read(rank)
	if err != nil {
		return err
	}
	w := want()
	v.h.Expect(what, got, w, make([]float64, len(w)))
	return nil
}

func (v *vector) free() error { return freeAll(v.tensors...) }

// part is a rank's n elements of a vector that a kernel has as the tensors of a list.
func part(c *tl.Context, list []tl.Ref, rank, n int) tl.Ref {
	for _, t := range list {
		if k := t.Len() / n; rank >= k {
			rank -= k
			continue
		}
		return c.Ref(t.Addr+mem.Addr(int64(rank)*int64(n)*int64(t.DType.Size())), tl.Dims(n), t.DType)
	}
	return tl.Ref{}
}
