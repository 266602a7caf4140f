package bench

import (
	"math/bits"

	"kernbench/dtype"
	"kernbench/tl"
)

// Inputs makes the values that ranks contribute: a function of seed, rank and index alone,
// exact in every element type, and such that no reduction of them leaves the finite range.
//
//	sum, avg   k/128 with k in 1..255, so that a float sum rounds and a lost or doubled
//	           contribution shows; divided by a power of two where world × 2 > 32768, which
//	           f16 could not hold. Integers: 0..2, and for avg no more than fits.
//	max, min   k/128 with k in -127..127; integers the same k (u8: 0..254)
//	prod       1 + k/128 with k in -2..2: over n ranks a random walk of the logarithm by
//	           1/90 per step. Integers: 1, 3 and, with a sign, -1: odd, so that a wrapping
//	           product never dies away to 0.
type Inputs struct {
	Seed  uint64
	World int
	Type  dtype.Type
	Op    tl.ReduceOp
}

// At is element index of what a rank brings.
func (in Inputs) At(rank, index int) float64 {
	h := mix(mix(mix(in.Seed+0x9e3779b97f4a7c15)+uint64(rank)) + uint64(index))
	draw := func(n uint64) float64 { hi, _ := bits.Mul64(h, n); return float64(hi) } // 0 .. n-1
	if in.Type.IsInt() {
		return in.integer(draw)
	}
	switch in.Op {
	case tl.Prod:
		return 1 + (draw(5)-2)/128
	case tl.Max, tl.Min:
		return (draw(255) - 127) / 128
	}
	v := (1 + draw(255)) / 128
	for n := in.World; n > 1<<14; n /= 2 {
		v /= 2
	}
	return v
}

func (in Inputs) integer(draw func(uint64) float64) float64 {
	switch in.Op {
	case tl.Prod:
		if in.Type == dtype.U8 {
			return 1 + 2*draw(2)
		}
		return [...]float64{1, 3, -1}[int(draw(3))]
	case tl.Max, tl.Min:
		if in.Type == dtype.U8 {
			return draw(255)
		}
		return draw(255) - 127
	case tl.Avg:
		if largest := dtype.MaxFinite(in.Type); float64(in.World)*2 > largest {
			return draw(1 + uint64(largest)/uint64(max(in.World, 1)))
		}
	}
	return draw(3)
}

// Vector is all that a rank brings.
func (in Inputs) Vector(rank, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = in.At(rank, i)
	}
	return v
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
