package dtype

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

// halfFormat describes a 16-bit float by its definition, independently of the code under test.
type halfFormat struct {
	typ      Type
	fraction int // bits of the fraction
	bias     int
	decode   func(uint16) float32
	from32   func(float32) uint16
	from64   func(float64) uint16
}

var halves = []halfFormat{
	{F16, 10, 15, f16ToF32, f16FromF32, f16FromF64},
	{BF16, 7, 127, bf16ToF32, bf16FromF32, bf16FromF64},
}

// value returns the textbook formula: (−1)^s × 2^(e−bias) × 1.f, or 2^(1−bias) × 0.f for
// subnormals.
func (h halfFormat) value(bits uint16) float64 {
	exponentMask := 1<<(15-h.fraction) - 1
	exponent := int(bits>>h.fraction) & exponentMask
	fraction := float64(int(bits) & (1<<h.fraction - 1))
	var v float64
	switch {
	case exponent == exponentMask && fraction != 0:
		return math.NaN()
	case exponent == exponentMask:
		v = math.Inf(1)
	case exponent == 0:
		v = math.Ldexp(fraction, 1-h.bias-h.fraction)
	default:
		v = math.Ldexp(fraction+math.Ldexp(1, h.fraction), exponent-h.bias-h.fraction)
	}
	if bits&0x8000 != 0 {
		v = -v
	}
	return v
}

// round searches the finite values for the nearest; ties go to the even pattern. Infinity has the
// place of the first value of the next binade, as in IEEE 754.
func (h halfFormat) round(v float64) uint16 {
	if v != v {
		return map[Type]uint16{F16: 0x7e00, BF16: 0x7fc0}[h.typ]
	}
	sign := uint16(0)
	if math.Signbit(v) {
		sign, v = 0x8000, -v
	}
	infinity := 1<<15 - 1<<h.fraction
	value := func(bits int) float64 {
		if bits == infinity {
			return math.Ldexp(1, h.bias+1)
		}
		return h.value(uint16(bits))
	}
	upper := sort.Search(infinity, func(bits int) bool { return value(bits) >= v })
	if value(upper) <= v { // equal, or at or above infinity
		return sign | uint16(upper)
	}
	lower := upper - 1
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(3000).SetFloat64(v) }
	fromLower := exact(v)
	fromLower.Sub(fromLower, exact(value(lower)))
	fromUpper := exact(value(upper))
	fromUpper.Sub(fromUpper, exact(v))
	if c := fromLower.Cmp(fromUpper); c < 0 || c == 0 && lower%2 == 0 {
		return sign | uint16(lower)
	}
	return sign | uint16(upper)
}

func TestHalfDecodesEveryPattern(t *testing.T) {
	for _, h := range halves {
		t.Run(h.typ.String(), func(t *testing.T) {
			for bits := range 1 << 16 {
				got, want := float64(h.decode(uint16(bits))), h.value(uint16(bits))
				if !same(got, want) {
					t.Fatalf("pattern %#04x is %v, want %v", bits, got, want)
				}
				back := h.from32(float32(got))
				if want == want && back != uint16(bits) || want != want && back != h.round(want) {
					t.Fatalf("pattern %#04x becomes %#04x when decoded and encoded", bits, back)
				}
			}
		})
	}
}

func TestHalfRoundsAroundEveryPattern(t *testing.T) {
	for _, h := range halves {
		t.Run(h.typ.String(), func(t *testing.T) {
			check := func(v float64) {
				if got, want := h.from64(v), h.round(v); got != want {
					t.Fatalf("%v (%x) rounds to %#04x, want %#04x", v, v, got, want)
				}
				f := float32(v)
				if got, want := h.from32(f), h.round(float64(f)); got != want {
					t.Fatalf("float32 %v rounds to %#04x, want %#04x", f, got, want)
				}
			}
			infinity := 1<<15 - 1<<h.fraction
			for bits := range infinity {
				low, high := h.value(uint16(bits)), h.value(uint16(bits+1))
				if bits+1 == infinity {
					high = math.Ldexp(1, h.bias+1)
				}
				middle := low + (high-low)/2 // exact: one bit more
				for _, v := range []float64{middle, math.Nextafter(middle, 0), math.Nextafter(middle, math.Inf(1)),
					float64(math.Nextafter32(float32(middle), 0)), -math.Nextafter(low, 0)} {
					check(v)
				}
			}
			for _, v := range []float64{math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1),
				math.Inf(-1), math.NaN(), math.Copysign(0, -1), math.MaxFloat32, 0x1p-150, 0x1.8p-150} {
				check(v)
			}
		})
	}
}

func TestHalfRoundsRandomValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, h := range halves {
		for range 200_000 {
			v := math.Ldexp(random.Float64()*2-1, random.IntN(300)-160)
			if got, want := h.from64(v), h.round(v); got != want {
				t.Fatalf("%v: %v (%x) rounds to %#04x, want %#04x", h.typ, v, v, got, want)
			}
		}
	}
}

// Rounding to odd and then to nearest gives the same as one rounding by package math/big.
func TestIntegersRoundOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v") >> rapid.IntRange(0, 40).Draw(t, "shift")
		var b [4]byte
		SetInt(F32, b[:], 0, v)
		if want := float32(v); float32(At(F32, b[:], 0)) != want {
			t.Fatalf("f32 of %d is %v, want %v", v, At(F32, b[:], 0), want)
		}
		SetInt(BF16, b[:], 0, v)
		want, _ := new(big.Float).SetPrec(8).SetInt64(v).Float64()
		if got := At(BF16, b[:], 0); got != want {
			t.Fatalf("bf16 of %d is %v, want %v", v, got, want)
		}
	})
}
