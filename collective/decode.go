package collective

import (
	"encoding/binary"
	"math"
	"slices"

	"kernbench/dtype"
)

// Decoder turns vectors of a float type into float64, exactly. It keeps a buffer.
type Decoder struct {
	wide []byte
	out  []float64
}

// Floats decodes src. The result holds until the next call.
func (d *Decoder) Floats(t dtype.Type, src []byte) []float64 {
	n := len(src) / t.Size()
	d.out = slices.Grow(d.out[:0], n)[:n]
	switch t {
	case dtype.F64:
		for i := range d.out {
			d.out[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
		return d.out
	case dtype.F16, dtype.BF16:
		// Through float32, for which dtype is fast.
		d.wide = slices.Grow(d.wide[:0], 4*n)[:4*n]
		dtype.Convert(dtype.F32, t, d.wide, src)
		src = d.wide
	}
	for i := range d.out {
		d.out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
	}
	return d.out
}
