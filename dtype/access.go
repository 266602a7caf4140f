package dtype

import (
	"encoding/binary"
	"fmt"
	"math"
)

// At returns element i of b. An I64 beyond 2^53 is rounded to the nearest float64; AtInt does not
// round.
func At(t Type, b []byte, i int) float64 {
	switch t {
	case F16:
		return float64(f16ToF32(binary.LittleEndian.Uint16(b[2*i:])))
	case BF16:
		return float64(bf16ToF32(binary.LittleEndian.Uint16(b[2*i:])))
	case F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	case F64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return float64(AtInt(t, b, i))
}

// AtInt returns element i of b. A float is truncated towards zero and clamped to the range of
// int64; NaN gives 0.
func AtInt(t Type, b []byte, i int) int64 {
	switch t {
	case I8:
		return int64(int8(b[i]))
	case I16:
		return int64(int16(binary.LittleEndian.Uint16(b[2*i:])))
	case I32:
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	case I64:
		return int64(binary.LittleEndian.Uint64(b[8*i:]))
	case U8:
		return int64(b[i])
	case F16, BF16, F32, F64:
		return truncate(I64, At(t, b, i))
	}
	panic(fmt.Sprintf("dtype: the type %v has no elements", t))
}

// Set writes v to element i of b. For a float type v is rounded once; for an integer type it is
// truncated and clamped to the range.
func Set(t Type, b []byte, i int, v float64) {
	switch t {
	case F16:
		binary.LittleEndian.PutUint16(b[2*i:], f16FromF64(v))
	case BF16:
		binary.LittleEndian.PutUint16(b[2*i:], bf16FromF64(v))
	case F32:
		binary.LittleEndian.PutUint32(b[4*i:], bits32(float32(v)))
	case F64:
		binary.LittleEndian.PutUint64(b[8*i:], bits64(v))
	default:
		SetInt(t, b, i, truncate(t, v))
	}
}

// SetInt writes v to element i of b. An integer type takes the low bits of v; for a float type v is
// rounded once.
func SetInt(t Type, b []byte, i int, v int64) {
	switch t {
	case I8, U8:
		b[i] = byte(v)
	case I16:
		binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
	case I32:
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
	case I64:
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	case F64:
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(float64(v)))
	case F16, BF16, F32:
		Set(t, b, i, intOdd(v))
	default:
		panic(fmt.Sprintf("dtype: the type %v has no elements", t))
	}
}

// Fill sets every element of dst to v, as Set does.
func Fill(t Type, dst []byte, v float64) {
	if n := count("Fill", t, dst); n == 0 {
		return
	}
	Set(t, dst, 0, v)
	for done := t.Size(); done < len(dst); done *= 2 {
		copy(dst[done:], dst[:done])
	}
}

// FirstNonFinite returns the index of the first infinity or NaN in b, or −1. Integers are always
// finite.
func FirstNonFinite(t Type, b []byte) int {
	n := count("FirstNonFinite", t, b)
	// A float is not finite if its exponent bits are all ones. Only then does adding 1 to the
	// exponent field carry into the sign bit, and the carry goes no further. So one addition tests
	// all elements of a 64-bit word.
	var exponent, one, sign uint64
	switch t {
	case F16:
		exponent, one, sign = 0x7c007c007c007c00, 0x0400040004000400, 0x8000800080008000
	case BF16:
		exponent, one, sign = 0x7f807f807f807f80, 0x0080008000800080, 0x8000800080008000
	case F32:
		exponent, one, sign = 0x7f8000007f800000, 0x0080000000800000, 0x8000000080000000
	case F64:
		exponent, one, sign = 0x7ff0000000000000, 0x0010000000000000, 0x8000000000000000
	default:
		return -1
	}
	i := 0
	for perWord := 8 / t.Size(); i+perWord <= n; i += perWord {
		if (binary.LittleEndian.Uint64(b[i*t.Size():])&exponent+one)&sign != 0 {
			break
		}
	}
	for ; i < n; i++ {
		if v := At(t, b, i); math.IsInf(v, 0) || math.IsNaN(v) {
			return i
		}
	}
	return -1
}

// truncate converts v to an integer of type t: rounded towards zero and clamped to the range. NaN
// gives 0.
func truncate(t Type, v float64) int64 {
	low, high := intRange(t)
	switch {
	case v != v:
		return 0
	case v <= float64(low):
		return low
	case v >= float64(high): // 2^63 for I64, which the conversion below could not take
		return high
	}
	return int64(v)
}

// bits32 and bits64 return the bit pattern of a result. Every NaN becomes the canonical NaN.
func bits32(f float32) uint32 {
	if f != f {
		return nan32
	}
	return math.Float32bits(f)
}

func bits64(f float64) uint64 {
	if f != f {
		return nan64
	}
	return math.Float64bits(f)
}

// count returns the number of elements in the slices of a call, and panics unless they agree.
func count(what string, t Type, dst []byte, operands ...[]byte) int {
	size := t.Size()
	if size == 0 {
		panic(fmt.Sprintf("dtype: %s: the type %v has no elements", what, t))
	}
	if len(dst)%size != 0 {
		panic(fmt.Sprintf("dtype: %s: %d bytes is not a multiple of the %v size (%d)", what, len(dst), t, size))
	}
	for i, operand := range operands {
		if len(operand) != len(dst) {
			panic(fmt.Sprintf("dtype: %s of %v: operand %d has %d bytes, but the result has %d", what, t, i+1, len(operand), len(dst)))
		}
	}
	return len(dst) / size
}
