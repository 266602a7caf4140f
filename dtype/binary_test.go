package dtype

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "kernbench/internal/fixedseed"
)

var allBinaryOps = []BinaryOp{Add, Sub, Mul, Div, Max, Min}

// exactHalf returns the exact result of op, rounded once by the definition of the format.
func exactHalf(h halfFormat, op BinaryOp, x, y float64) uint16 {
	switch op {
	case Max:
		return h.round(max(x, y))
	case Min:
		return h.round(min(x, y))
	}
	plain := map[BinaryOp]float64{Add: x + y, Sub: x - y, Mul: x * y, Div: x / y}[op]
	if op == Mul || op == Div || math.IsNaN(plain) || math.IsInf(plain, 0) || plain == 0 {
		return h.round(plain) // a product is exact in float64; a quotient is never close to a tie of 12 bits
	}
	// A sum may have more bits than a float64. A sticky last bit records that bits were lost.
	exact := new(big.Float).SetPrec(1000).SetFloat64(x)
	if op == Sub {
		y = -y
	}
	exact.Add(exact, new(big.Float).SetFloat64(y))
	sum, accuracy := exact.SetMode(big.ToZero).SetPrec(52).Float64()
	if exact.Acc() != big.Exact || accuracy != big.Exact {
		sum = math.Nextafter(sum, math.Copysign(math.Inf(1), sum))
	}
	return h.round(sum)
}

func TestHalfArithmeticIsRoundedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const n = 1 << 13
	for _, h := range halves {
		for _, op := range allBinaryOps {
			t.Run(h.typ.String()+"/"+op.String(), func(t *testing.T) {
				a, b, dst := make([]byte, 2*n), make([]byte, 2*n), make([]byte, 2*n)
				randomBits(h.typ, a, random)
				randomBits(h.typ, b, random)
				Binary(op, h.typ, dst, a, b)
				for i := range n {
					x, y := uint16(getBits(h.typ, a, i)), uint16(getBits(h.typ, b, i))
					got, want := uint16(getBits(h.typ, dst, i)), exactHalf(h, op, h.value(x), h.value(y))
					if got != want {
						t.Fatalf("%#04x %v %#04x = %#04x, want %#04x", x, op, y, got, want)
					}
				}
			})
		}
	}
}

// Subnormal bf16 products and quotients are rounded once, also where they are subnormal in float32.
// The test takes all pairs of significands, with exponents around the least bf16 and half of it.
func TestBF16BelowTheNormalRange(t *testing.T) {
	const n = 1 << 14
	a, b, dst := make([]byte, 2*n), make([]byte, 2*n), make([]byte, 2*n)
	for _, op := range []BinaryOp{Mul, Div} {
		for exponent := -137; exponent <= -124; exponent++ {
			for i := range n {
				Set(BF16, a, i, math.Ldexp(1+float64(i%128)/128, -60))
				right := exponent + 60
				if op == Div {
					right = -right
				}
				Set(BF16, b, i, math.Ldexp(1+float64(i/128)/128, right))
			}
			Binary(op, BF16, dst, a, b)
			for i := range n {
				x, y := At(BF16, a, i), At(BF16, b, i)
				exact := x * y
				if op == Div {
					exact = x / y
				}
				if got, want := uint16(getBits(BF16, dst, i)), halves[1].round(exact); got != want {
					t.Fatalf("%v %v %v = %#04x, want %#04x", x, op, y, got, want)
				}
			}
		}
	}
}

func TestBinaryResults(t *testing.T) {
	inf, nan, minusZero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	tests := []struct {
		name string
		op   BinaryOp
		typ  Type
		a, b float64
		want float64
	}{
		{name: "f16 overflow", op: Add, typ: F16, a: 65504, b: 16, want: inf},
		{name: "f16 rounds down to the largest value", op: Add, typ: F16, a: 65504, b: 15, want: 65504},
		{name: "f16 tie to even", op: Add, typ: F16, a: 2048, b: 1, want: 2048},
		{name: "f16 tie to even upwards", op: Add, typ: F16, a: 2050, b: 1, want: 2052},
		{name: "bf16 tie to even", op: Add, typ: BF16, a: 256, b: 1, want: 256},
		{name: "inf minus inf", op: Sub, typ: F32, a: inf, b: inf, want: nan},
		{name: "division by zero", op: Div, typ: F64, a: 1, b: 0, want: inf},
		{name: "max of zeros", op: Max, typ: F32, a: minusZero, b: 0, want: 0},
		{name: "max of zeros, other way", op: Max, typ: F16, a: 0, b: minusZero, want: 0},
		{name: "min of zeros", op: Min, typ: F32, a: 0, b: minusZero, want: minusZero},
		{name: "max with NaN", op: Max, typ: BF16, a: nan, b: inf, want: nan},
		{name: "min with NaN", op: Min, typ: F64, a: -inf, b: nan, want: nan},
		{name: "i8 wraps", op: Add, typ: I8, a: 127, b: 1, want: -128},
		{name: "i8 minimum divided by minus one", op: Div, typ: I8, a: -128, b: -1, want: -128},
		{name: "u8 wraps below", op: Sub, typ: U8, a: 1, b: 2, want: 255},
		{name: "u8 is unsigned", op: Max, typ: U8, a: 200, b: 100, want: 200},
		{name: "i16 product wraps", op: Mul, typ: I16, a: 256, b: 256, want: 0},
		{name: "integer division truncates", op: Div, typ: I32, a: -7, b: 2, want: -3},
		{name: "integer division by zero", op: Div, typ: I64, a: 7, b: 0, want: 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dst := make([]byte, test.typ.Size())
			Binary(test.op, test.typ, dst, encode(test.typ, test.a), encode(test.typ, test.b))
			wantValues(t, test.typ, dst, test.want)
		})
	}
}

func TestNaNIsCanonical(t *testing.T) {
	canonical := map[Type]uint64{F16: nan16, BF16: nanBF16, F32: nan32, F64: nan64}
	for _, typ := range Types() {
		if !typ.IsFloat() {
			continue
		}
		const n = 37
		a, dst := make([]byte, n*typ.Size()), make([]byte, n*typ.Size())
		for i := range n {
			putBits(typ, a, i, ^uint64(0)-uint64(i)) // negative NaNs with payloads
		}
		for _, op := range allBinaryOps {
			Binary(op, typ, dst, a, a)
			for i := range n {
				if got := getBits(typ, dst, i); got != canonical[typ] {
					t.Fatalf("%v %v of NaNs is %#x, want %#x", typ, op, got, canonical[typ])
				}
			}
		}
	}
}

func TestBinaryScalar(t *testing.T) {
	tests := []struct {
		name string
		op   BinaryOp
		typ  Type
		a    []float64
		s    float64
		want []float64
	}{
		{"halves", Mul, F16, []float64{1, 2, 3}, 0.5, []float64{0.5, 1, 1.5}},
		{"a scalar beyond f16", Div, F16, []float64{49152, -1}, 98304, []float64{0.5, -171 * 0x1p-24}},
		{"a scalar beyond i8", Div, I8, []float64{100, -128}, 1000, []float64{0, 0}},
		{"scalar truncated", Mul, I32, []float64{3, -3}, 2.9, []float64{6, -6}},
		{"wraps", Add, U8, []float64{250, 5}, 10, []float64{4, 15}},
		{"by zero", Div, I16, []float64{9}, 0, []float64{0}},
		{"f64", Sub, F64, []float64{1}, 0.1, []float64{0.9}},
		{"f32", Max, F32, []float64{-1, 7}, 0.1, []float64{float64(float32(0.1)), 7}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := encode(test.typ, test.a...)
			BinaryScalar(test.op, test.typ, a, a, test.s)
			wantValues(t, test.typ, a, test.want...)
		})
	}
}

func TestIntegersWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]Type{I8, I16, I32, I64, U8}).Draw(t, "type")
		op := rapid.SampledFrom([]BinaryOp{Add, Sub, Mul}).Draw(t, "op")
		n := rapid.IntRange(0, 600).Draw(t, "n")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a, b := make([]byte, n*typ.Size()), make([]byte, n*typ.Size())
		randomBits(typ, a, random)
		randomBits(typ, b, random)
		dst := make([]byte, len(a))
		Binary(op, typ, dst, a, b)
		for i := range n {
			x, y := big.NewInt(AtInt(typ, a, i)), big.NewInt(AtInt(typ, b, i))
			switch op {
			case Add:
				x.Add(x, y)
			case Sub:
				x.Sub(x, y)
			case Mul:
				x.Mul(x, y)
			}
			modulus := new(big.Int).Lsh(big.NewInt(1), uint(8*typ.Size()))
			if got, want := getBits(typ, dst, i), x.Mod(x, modulus).Uint64(); got != want {
				t.Fatalf("%v %v: element %d is %#x, want %#x", typ, op, i, got, want)
			}
		}
	})
}

func TestBadCallsPanic(t *testing.T) {
	wantPanic(t, "operand 2 has 2 bytes, but the result has 4", func() {
		Binary(Add, F16, make([]byte, 4), make([]byte, 4), make([]byte, 2))
	})
	wantPanic(t, "Fill: 6 bytes is not a multiple of the f32 size (4)", func() { Fill(F32, make([]byte, 6), 1) })
	wantPanic(t, "the type invalid", func() { Fill(Invalid, nil, 1) })
	wantPanic(t, "BinaryOp(9)", func() { Binary(9, F16, nil, nil, nil) })
	wantPanic(t, "BinaryOp(9)", func() { BinaryScalar(9, F16, nil, nil, 1) })
	wantPanic(t, "UnaryOp(7)", func() { Unary(7, F16, nil, nil) })
	wantPanic(t, "needs 6 elements", func() { Softmax(F32, make([]byte, 4), make([]byte, 4), 1, 2, 3) })
	wantPanic(t, "negative length", func() { Softmax(F32, nil, nil, -1, 2, 3) })
	wantPanic(t, "sub: use add, mul, max or min", func() { ReduceAxis(Sub, F32, nil, nil, 0, 0, 0) })
	wantPanic(t, "src has 2 elements, dst has 1", func() { Convert(F32, F16, make([]byte, 4), make([]byte, 4)) })
	wantPanic(t, "not an integer type", func() { MaxFinite(Invalid) })
	wantPanic(t, "the type invalid", func() { At(Invalid, nil, 0) })
	wantPanic(t, "the type invalid", func() { SetInt(Invalid, nil, 0, 1) })
}
