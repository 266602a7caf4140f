package dtype

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func TestUnary(t *testing.T) {
	minusZero := math.Copysign(0, -1)
	tests := []struct {
		name string
		op   UnaryOp
		typ  Type
		a    []float64
		want []float64
	}{
		{"exp", Exp, F16, []float64{0, 1, -inf, 100}, []float64{1, 2.71875, 0, inf}},
		{"log", Log, F32, []float64{1, 0, -1}, []float64{0, -inf, nan}},
		{"sqrt", Sqrt, BF16, []float64{4, 2, -1}, []float64{2, 1.4140625, nan}},
		{"abs", Abs, F64, []float64{-3, minusZero, -inf, nan}, []float64{3, 0, inf, nan}},
		{"neg", Neg, F16, []float64{0, -2}, []float64{minusZero, 2}},
		{"integer exp truncates", Exp, I16, []float64{0, 1, 2, 100}, []float64{1, 2, 7, 32767}},
		{"integer log", Log, I8, []float64{1, 100, 0, -1}, []float64{0, 4, -128, 0}},
		{"integer sqrt", Sqrt, U8, []float64{255, 0}, []float64{15, 0}},
		{"abs wraps", Abs, I8, []float64{-128, -5, 5}, []float64{-128, 5, 5}},
		{"neg wraps", Neg, U8, []float64{1, 0}, []float64{255, 0}},
		{"nothing", Abs, I64, nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := encode(test.typ, test.a...)
			Unary(test.op, test.typ, a, a)
			wantValues(t, test.typ, a, test.want...)
		})
	}
}

// exactFMA computes a·b + c exactly and rounds it once.
func exactFMA(t Type, a, b, c float64) float64 {
	if plain := a*b + c; math.IsNaN(plain) || math.IsInf(plain, 0) || plain == 0 {
		return At(t, encode(t, plain), 0)
	}
	exact := new(big.Float).SetPrec(2000).SetFloat64(a)
	exact.Mul(exact, new(big.Float).SetFloat64(b))
	exact.Add(exact, new(big.Float).SetFloat64(c))
	if t == F32 {
		f, _ := exact.Float32() // rounds to nearest even, subnormals included
		return float64(f)
	}
	for _, h := range halves {
		if h.typ == t {
			sticky, _ := exact.SetMode(big.ToZero).SetPrec(52).Float64()
			if exact.Acc() != big.Exact {
				sticky = math.Nextafter(sticky, math.Copysign(inf, sticky))
			}
			return h.value(h.round(sticky))
		}
	}
	panic("no such format")
}

func TestFMAIsRoundedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, typ := range []Type{F16, BF16, F32} {
		t.Run(typ.String(), func(t *testing.T) {
			const n = 20_000
			size := typ.Size()
			a, b, c, dst := make([]byte, n*size), make([]byte, n*size), make([]byte, n*size), make([]byte, n*size)
			for _, operand := range [][]byte{a, b, c} {
				randomBits(typ, operand, random)
			}
			for i := 0; i < n; i += 2 { // c is much smaller than the product, or cancels it
				Set(typ, a, i, 1+random.Float64())
				Set(typ, b, i, 1+random.Float64())
				Set(typ, c, i, math.Ldexp(random.Float64()-0.5, random.IntN(60)-50))
				if i%8 == 0 {
					Set(typ, c, i, -At(typ, a, i)*At(typ, b, i))
				}
			}
			FMA(typ, dst, a, b, c)
			for i := range n {
				x, y, z := At(typ, a, i), At(typ, b, i), At(typ, c, i)
				if got, want := At(typ, dst, i), exactFMA(typ, x, y, z); !same(got, want) {
					t.Fatalf("%v × %v + %v = %v, want %v", x, y, z, got, want)
				}
			}
		})
	}
}

func TestFMA(t *testing.T) {
	// (1+2^-12)² + 2^-60 lies just above a tie of float32. A float64 sum would be the tie itself,
	// which rounds down.
	dst := make([]byte, 4)
	FMA(F32, dst, encode(F32, 1+0x1p-12), encode(F32, 1+0x1p-12), encode(F32, 0x1p-60))
	wantValues(t, F32, dst, 1+0x1p-11+0x1p-23)
	dst8 := make([]byte, 8)
	FMA(F64, dst8, encode(F64, 1+0x1p-30), encode(F64, 1-0x1p-30), encode(F64, -1))
	wantValues(t, F64, dst8, -0x1p-60)
	FMA(I8, dst[:1], encode(I8, 100), encode(I8, 2), encode(I8, 60))
	wantValues(t, I8, dst[:1], 4)
}

func TestClamp(t *testing.T) {
	tests := []struct {
		name   string
		typ    Type
		a      []float64
		lo, hi float64
		want   []float64
	}{
		{"floats", F16, []float64{-2, 0.5, 9, nan}, -1, 1, []float64{-1, 0.5, 1, nan}},
		{"one side", F32, []float64{-2, 9}, 0, inf, []float64{0, 9}},
		{"upper wins", F64, []float64{5}, 3, 1, []float64{1}},
		{"NaN bound", F32, []float64{5}, nan, 1, []float64{nan}},
		{"whole numbers inside", I8, []float64{-100, 1, 100}, -1.5, 2.5, []float64{-1, 1, 2}},
		{"NaN bounds nothing", I8, []float64{-100, 100}, nan, 7, []float64{-100, 7}},
		{"beyond the type", U8, []float64{3, 255}, -5, 1e9, []float64{3, 255}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := encode(test.typ, test.a...)
			Clamp(test.typ, a, a, test.lo, test.hi)
			wantValues(t, test.typ, a, test.want...)
		})
	}
}

func TestConvert(t *testing.T) {
	tests := []struct {
		name string
		from Type
		to   Type
		a    []float64
		want []float64
	}{
		{"down", F32, F16, []float64{1.0 / 3, 65520, -0x1p-25}, []float64{0.333251953125, inf, math.Copysign(0, -1)}},
		{"double to half rounds once", F64, F16, []float64{1 + 0x1p-11 + 0x1p-50}, []float64{1 + 0x1p-10}},
		{"double to bf16 rounds once", F64, BF16, []float64{1 + 0x1p-8 + 0x1p-50}, []float64{1 + 0x1p-7}},
		{"up", BF16, F64, []float64{1.5, nan}, []float64{1.5, nan}},
		{"float to integer saturates", F32, I8, []float64{1.9, -1.9, 300, -300, nan, inf}, []float64{1, -1, 127, -128, 0, 127}},
		{"float to u8", F16, U8, []float64{-1, 255.9}, []float64{0, 255}},
		{"integer to integer wraps", I32, I8, []float64{130, -129}, []float64{-126, 127}},
		{"integer to float", I32, BF16, []float64{257, -3}, []float64{256, -3}},
		{"same type", F32, F32, []float64{0.1}, []float64{float64(float32(0.1))}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dst := make([]byte, len(test.a)*test.to.Size())
			Convert(test.to, test.from, dst, encode(test.from, test.a...))
			wantValues(t, test.to, dst, test.want...)
		})
	}
}

func TestFirstNonFinite(t *testing.T) {
	for _, typ := range Types() {
		for _, n := range []int{0, 1, 7, 33} {
			b := make([]byte, n*typ.Size())
			Fill(typ, b, MaxFinite(typ))
			if got := FirstNonFinite(typ, b); got != -1 {
				t.Errorf("%v: FirstNonFinite of %d finite values is %d", typ, n, got)
			}
			if !typ.IsFloat() {
				continue
			}
			for at := range n {
				for _, v := range []float64{inf, -inf, nan} {
					Fill(typ, b, -MaxFinite(typ))
					Set(typ, b, n-1, nan)
					Set(typ, b, at, v)
					if got := FirstNonFinite(typ, b); got != at {
						t.Errorf("%v: FirstNonFinite is %d, want %d", typ, got, at)
					}
				}
			}
		}
	}
}

func TestAccess(t *testing.T) {
	for _, typ := range Types() {
		b := make([]byte, 5*typ.Size())
		Fill(typ, b, 7)
		Set(typ, b, 3, 5.75)
		want := 5.75
		if typ.IsInt() {
			want = 5
		}
		wantValues(t, typ, b, 7, 7, 7, want, 7)
		SetInt(typ, b, 1, 100)
		if got := AtInt(typ, b, 1); got != 100 {
			t.Errorf("%v: AtInt is %d, want 100", typ, got)
		}
		if got := AtInt(typ, b, 3); got != 5 {
			t.Errorf("%v: AtInt is %d, want 5", typ, got)
		}
	}
	large := make([]byte, 8)
	SetInt(I64, large, 0, math.MaxInt64-1)
	if got := AtInt(I64, large, 0); got != math.MaxInt64-1 {
		t.Errorf("AtInt lost bits: %d", got)
	}
	Set(I64, large, 0, 1e300)
	if got := AtInt(I64, large, 0); got != math.MaxInt64 {
		t.Errorf("Set of 1e300 gave %d", got)
	}
}

func TestTypes(t *testing.T) {
	for _, typ := range Types() {
		if got, err := Parse(typ.String()); err != nil || got != typ {
			t.Errorf("Parse(%q) = %v, %v", typ, got, err)
		}
		if typ.IsFloat() == typ.IsInt() || !typ.Valid() || typ.Size() == 0 {
			t.Errorf("%v: float %v, int %v, valid %v, size %d", typ, typ.IsFloat(), typ.IsInt(), typ.Valid(), typ.Size())
		}
		b := encode(typ, 1+Epsilon(typ))
		wantValues(t, typ, b, 1)
		if typ.IsFloat() {
			wantValues(t, typ, encode(typ, 1+2*Epsilon(typ)), 1+2*Epsilon(typ))
			wantValues(t, typ, encode(typ, MaxFinite(typ)+MaxFinite(typ)*Epsilon(typ)), inf)
		}
		wantValues(t, typ, encode(typ, MaxFinite(typ)), MaxFinite(typ))
	}
	for alias, want := range typeAliases {
		if got, err := Parse(alias); err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v; want %v", alias, got, err, want)
		}
	}
	for _, bad := range []string{"", "invalid", "f8", "F16"} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", bad, got)
		}
	}
	if Invalid.Valid() || Type(200).Size() != 0 || Type(200).String() != "Type(200)" || Epsilon(I8) != 0 {
		t.Error("an invalid type is valid, or has a size, a name or an epsilon")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("f16")
	f.Add("bfloat16")
	f.Fuzz(func(t *testing.T, name string) {
		if typ, err := Parse(name); (err == nil) != typ.Valid() {
			t.Fatalf("Parse(%q) = %v, %v", name, typ, err)
		}
	})
}

func TestConvertUpAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]Type{F16, BF16, F32}).Draw(t, "from")
		n := rapid.IntRange(0, 700).Draw(t, "n")
		a := make([]byte, n*from.Size())
		randomBits(from, a, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		for _, to := range []Type{F32, F64} {
			up, back := make([]byte, n*to.Size()), make([]byte, len(a))
			Convert(to, from, up, a)
			Convert(from, to, back, up)
			for i := range n {
				if x, y := At(from, a, i), At(from, back, i); !same(x, y) {
					t.Fatalf("%v converted to %v and back: %v became %v", from, to, x, y)
				}
			}
		}
	})
}
