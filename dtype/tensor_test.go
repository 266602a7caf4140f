package dtype

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestReduceAxis(t *testing.T) {
	tests := []struct {
		name            string
		op              BinaryOp
		typ             Type
		src             []float64
		outer, n, inner int
		want            []float64
	}{
		{"rows", Add, F32, []float64{1, 2, 3, 4, 5, 6}, 2, 3, 1, []float64{6, 15}},
		{"columns", Add, F32, []float64{1, 2, 3, 4, 5, 6}, 1, 3, 2, []float64{9, 12}},
		{"both", Max, F16, []float64{1, 8, 3, 4, 5, 6, 7, 2}, 2, 2, 2, []float64{3, 8, 7, 6}},
		{"least", Min, BF16, []float64{3, -1, 2}, 1, 3, 1, []float64{-1}},
		{"product", Mul, I32, []float64{3, -1, 2}, 1, 3, 1, []float64{-6}},
		{"NaN wins", Max, F64, []float64{3, nan, 2}, 1, 3, 1, []float64{nan}},
		{"wraps", Add, I8, []float64{100, 100}, 1, 2, 1, []float64{-56}},
		{"unsigned", Max, U8, []float64{100, 200}, 1, 2, 1, []float64{200}},
		{"sum of nothing", Add, F16, nil, 1, 0, 2, []float64{0, 0}},
		{"product of nothing", Mul, F16, nil, 1, 0, 1, []float64{1}},
		{"product of no integers", Mul, I8, nil, 1, 0, 1, []float64{1}},
		{"max of nothing", Max, F32, nil, 1, 0, 1, []float64{-inf}},
		{"min of no integers", Min, I8, nil, 1, 0, 1, []float64{127}},
		{"max of no integers", Max, I8, nil, 1, 0, 1, []float64{-128}},
		// In f16, 2048 + 1 is 2048; a sum in float32 keeps the ones.
		{"wide sums", Add, F16, []float64{2048, 1, 1, 1, 1}, 1, 5, 1, []float64{2052}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dst := make([]byte, test.outer*test.inner*test.typ.Size())
			ReduceAxis(test.op, test.typ, dst, encode(test.typ, test.src...), test.outer, test.n, test.inner)
			wantValues(t, test.typ, dst, test.want...)
		})
	}
}

// Sizes of more than one block, compared with plain loops. Small integers are exact in every type.
func TestReduceAndDotBeyondABlock(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	small := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(random.IntN(3))
		}
		return v
	}
	for _, typ := range []Type{F16, F32, F64, I32} {
		for _, shape := range [][3]int{{3, 600, 1}, {2, 5, 600}, {6, 9, 300}, {1, 1, 1}} {
			p, q, r := shape[0], shape[1], shape[2]
			x, y := small(p*q*r), small(q*r)
			sums, product := make([]float64, p*r), make([]float64, p*r)
			for i := range p {
				for j := range q {
					for k := range r {
						sums[i*r+k] += x[(i*q+j)*r+k]
						product[i*r+k] += x[i*q+j] * y[j*r+k]
					}
				}
			}
			dst := make([]byte, p*r*typ.Size())
			ReduceAxis(Add, typ, dst, encode(typ, x...), p, q, r)
			wantValues(t, typ, dst, sums...)
			Dot(typ, dst, encode(typ, x[:p*q]...), encode(typ, y...), p, q, r)
			wantValues(t, typ, dst, product...)
		}
	}
}

func TestDot(t *testing.T) {
	tests := []struct {
		name    string
		typ     Type
		a, b    []float64
		m, k, n int
		want    []float64
	}{
		{"two by two", F32, []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 2, 2, []float64{19, 22, 43, 50}},
		{"k is 0", F16, nil, nil, 1, 0, 2, []float64{0, 0}},
		{"wide sums", F16, []float64{1, 1, 1}, []float64{2048, 1, 1}, 1, 3, 1, []float64{2050}},
		{"wide sums of f32", F32, []float64{1, 1, 1}, []float64{1 << 24, 1, 1}, 1, 3, 1, []float64{1<<24 + 2}},
		{"overflow", F16, []float64{256}, []float64{256}, 1, 1, 1, []float64{inf}},
		{"integers wrap", I8, []float64{100, 28}, []float64{1, 1}, 1, 2, 1, []float64{-128}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dst := make([]byte, test.m*test.n*test.typ.Size())
			Dot(test.typ, dst, encode(test.typ, test.a...), encode(test.typ, test.b...), test.m, test.k, test.n)
			wantValues(t, test.typ, dst, test.want...)
		})
	}
}

func TestSoftmax(t *testing.T) {
	e := math.E
	tests := []struct {
		name            string
		typ             Type
		src             []float64
		outer, n, inner int
		want            []float64
	}{
		{"even", F16, []float64{3, 3, 3, 3}, 1, 4, 1, []float64{0.25, 0.25, 0.25, 0.25}},
		{"large values do not overflow", F16, []float64{65504, 65504}, 1, 2, 1, []float64{0.5, 0.5}},
		{"two different values", F64, []float64{0, 1}, 1, 2, 1, []float64{math.Exp(-1) / (1 + math.Exp(-1)), 1 / (1 + 1/e)}},
		{"columns", F32, []float64{0, 1, 0, 1}, 1, 2, 2, []float64{0.5, 0.5, 0.5, 0.5}},
		{"rows", F32, []float64{0, -inf, -inf, 9}, 2, 2, 1, []float64{1, 0, 0, 1}},
		{"NaN", F32, []float64{0, nan}, 1, 2, 1, []float64{nan, nan}},
		{"infinite", F32, []float64{0, inf}, 1, 2, 1, []float64{nan, nan}},
		{"nothing", F32, nil, 1, 0, 1, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := encode(test.typ, test.src...)
			Softmax(test.typ, b, b, test.outer, test.n, test.inner)
			wantValues(t, test.typ, b, test.want...)
		})
	}
}
