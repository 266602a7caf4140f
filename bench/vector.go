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

// Vector is private memory of some PEs, n elements on each. It is a tensor on every SIP that has
// some of them, or several tensors where one cannot have as many elements.
type Vector struct {
	h       *Host
	n       int
	tensors []*device.Tensor
}

// Vector makes private memory of PEs anywhere in the machine, n elements on each. fill returns the
// elements of a rank, which is the place of a PE in pes; nil leaves the memory unwritten.
func (h *Host) Vector(name string, pes []int32, n int, fill func(rank int) []float64) (*Vector, error) {
	v := &Vector{h: h, n: n}
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

// Tensors lists the tensors of the vector. Launches take them as one buffer or argument.
func (v *Vector) Tensors() []*device.Tensor { return slices.Clone(v.tensors) }

// Read returns the elements of a rank as they are now.
func (v *Vector) Read(rank int) ([]float64, error) {
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

// On returns the memory of a rank's elements, for streams.
func (v *Vector) On(rank int) device.Memory {
	for _, x := range v.tensors {
		shards := x.Shards()
		if rank < len(shards) {
			return x.On(shards[rank].Rank)
		}
		rank -= len(shards)
	}
	return device.Memory{}
}

// Expect compares the elements of a rank with what they should be, exactly. It calls nothing in
// a run without data.
func (v *Vector) Expect(what string, rank int, want func() []float64) error {
	if !v.h.Device.HasData() {
		return nil
	}
	got, err := v.Read(rank)
	if err != nil {
		return err
	}
	w := want()
	v.h.Expect(what, got, w, make([]float64, len(w)))
	return nil
}

// Free frees the memory.
func (v *Vector) Free() error { return freeAll(v.tensors...) }

// part returns a rank's n elements of a vector that a kernel has as the tensors of a list.
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
