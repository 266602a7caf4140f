package numerics

import (
	"math"
	"math/big"
	"testing"

	"kernbench/dtype"

	"pgregory.net/rapid"
)

var floats = []dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64}

// drawValue returns a finite value of a type, of any exponent.
func drawValue(t *rapid.T, typ dtype.Type) float64 {
	b := make([]byte, 8)
	for {
		for i := range b {
			b[i] = rapid.Byte().Draw(t, "byte")
		}
		if v := dtype.At(typ, b, 0); !math.IsInf(v, 0) && !math.IsNaN(v) {
			return v
		}
	}
}

// rounded is v in a type, by math/big: there numbers have no subnormals, but a precision.
func rounded(typ dtype.Type, v *big.Float) float64 {
	f := formats[typ]
	if v.Sign() == 0 {
		return 0
	}
	digits := min(f.digits, v.MantExp(nil)-f.least)
	r := new(big.Float).SetMode(big.ToNearestEven)
	switch {
	case digits > 0:
		r.SetPrec(uint(digits)).Set(v)
	case digits == 0: // between half the smallest value and that: up, but from the very half to zero
		half := new(big.Float).SetMantExp(big.NewFloat(1), f.least-1)
		if new(big.Float).Abs(v).Cmp(half) > 0 {
			r.SetMantExp(big.NewFloat(float64(v.Sign())), f.least)
		}
	}
	out, _ := r.Float64()
	if math.Abs(out) > dtype.MaxFinite(typ) {
		out = math.Inf(v.Sign())
	}
	return out
}

// Sums, their roundings and their differences from other values agree with math/big.
func TestSumAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(floats).Draw(t, "type")
		s, want := NewSum(typ), new(big.Float).SetPrec(2300)
		for range rapid.IntRange(0, 12).Draw(t, "values") {
			v := drawValue(t, typ)
			s.Add(v)
			want.Add(want, new(big.Float).SetPrec(2300).SetFloat64(v))
			if rapid.Bool().Draw(t, "cancel") {
				s.Add(-v)
				want.Sub(want, new(big.Float).SetPrec(2300).SetFloat64(v))
			}
			for _, to := range floats {
				if to != typ && formats[to].least < s.unit {
					continue
				}
				if got, want := s.Round(to), rounded(to, want); got != want {
					t.Fatalf("as %v: %g, want %g", to, got, want)
				}
			}
			up, _ := new(big.Float).SetMode(big.AwayFromZero).SetPrec(53).Abs(want).Float64()
			if typ != dtype.F64 && s.Magnitude() != up {
				t.Fatalf("magnitude %g, want %g", s.Magnitude(), up)
			}
		}
		s.Reset()
		if s.Round(typ) != 0 {
			t.Fatal("a sum of nothing is not 0")
		}
	})
}

func TestULP(t *testing.T) {
	for _, tt := range []struct {
		name string
		typ  dtype.Type
		at   float64
		want float64
	}{
		{"one", dtype.BF16, 1, 0x1p-7},
		{"below one", dtype.BF16, -0.75, 0x1p-8},
		{"256, where ones are lost", dtype.BF16, 256, 2},
		{"2048, where ones are lost", dtype.F16, 2048, 2},
		{"zero", dtype.F16, 0, 0x1p-24},
		{"subnormal", dtype.F16, 0x1p-23, 0x1p-24},
		{"beyond", dtype.F16, 1e9, 32},
		{"f64", dtype.F64, 1, 0x1p-52},
	} {
		if got := ULP(tt.typ, tt.at); got != tt.want {
			t.Errorf("%s: %g, want %g", tt.name, got, tt.want)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	s := NewSum(dtype.BF16)
	for b.Loop() {
		s.Add(0.7109375)
	}
}
