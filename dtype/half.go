package dtype

import (
	"math"
	"sync"
)

// The canonical quiet NaN of each float type.
const (
	nan16   = 0x7e00
	nanBF16 = 0x7fc0
	nan32   = 0x7fc00000
	nan64   = 0x7ff8000000000000
)

// f16ToF32 converts exactly. It shifts the 15 bits of the magnitude to the fraction and the low
// exponent bits of a float32. As a float32 they are the value times 2^-112 (the difference of the
// exponent biases), for subnormals too.
func f16ToF32(h uint16) float32 {
	if h&0x7c00 == 0x7c00 {
		return math.Float32frombits(uint32(h&0x8000)<<16 | 0x7f800000 | uint32(h&0x3ff)<<13)
	}
	magnitude := math.Float32frombits(uint32(h&0x7fff)<<13) * 0x1p112
	return math.Float32frombits(uint32(h&0x8000)<<16 | math.Float32bits(magnitude))
}

// f16Table returns a table of f16ToF32 for all patterns, filled at the first call. For a whole
// vector the table is four times as fast, because multiplying a subnormal is slow.
var f16Table = sync.OnceValue(func() *[1 << 16]float32 {
	table := new([1 << 16]float32)
	for i := range table {
		table[i] = f16ToF32(uint16(i))
	}
	return table
})

// f16FromF32 rounds to nearest even.
func f16FromF32(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000:
		return nan16
	case bits >= 0x47800000: // 65536 and above; the rounding below takes [65520, 65536) to infinity
		return sign | 0x7c00
	case bits < 0x38800000: // below 2^-14, the least normal f16
		// In the sum with 0.5 the last place is 2^-24, the unit of a subnormal f16. So the addition
		// rounds.
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-0x3f000000)
	}
	// Rebias the exponent, then round off 13 bits: add just under a half, and one more when the
	// kept part is odd.
	bits += bits>>13&1 + 0xfff - (112 << 23)
	return sign | uint16(bits>>13)
}

func bf16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// bf16FromF32 rounds to nearest even.
func bf16FromF32(f float32) uint16 {
	if f != f {
		return nanBF16
	}
	bits := math.Float32bits(f)
	return uint16((bits + bits>>16&1 + 0x7fff) >> 16)
}

// f32Odd rounds v to odd: a value between two float32 goes to the one whose last bit is set.
// Rounding the result again to a type with at least two bits less gives the same as rounding v
// once. Rounding to odd neither creates a tie nor removes one.
func f32Odd(v float64) float32 {
	f := float32(v)
	wide := float64(f)
	if wide == v || v != v {
		return f
	}
	bits := math.Float32bits(f)
	if bits&1 != 0 {
		return f
	}
	// The next larger bit pattern is the next larger magnitude. So infinity becomes the largest
	// finite value, and 0 the least subnormal.
	if math.Abs(wide) < math.Abs(v) {
		return math.Float32frombits(bits + 1)
	}
	return math.Float32frombits(bits - 1)
}

// intOdd returns v as a float64, rounded to odd where it has more than 52 bits.
func intOdd(v int64) float64 {
	if v >= -1<<52 && v <= 1<<52 {
		return float64(v)
	}
	high := v >> 11 // 53 bits with the sign
	if v&0x7ff != 0 {
		high |= 1
	}
	return float64(high) * 0x1p11
}

func f16FromF64(v float64) uint16  { return f16FromF32(f32Odd(v)) }
func bf16FromF64(v float64) uint16 { return bf16FromF32(f32Odd(v)) }
