package collective

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// inputs packs one vector per rank.
func inputs(t dtype.Type, ranks [][]float64) func(int) []byte {
	return func(r int) []byte {
		b := make([]byte, len(ranks[r])*t.Size())
		for i, v := range ranks[r] {
			dtype.Set(t, b, i, v)
		}
		return b
	}
}

func reference(t testing.TB, c Call, ranks [][]float64) *Reference {
	t.Helper()
	e, err := AllReduce.Expect(NewHasher(1, false), c)
	if err != nil {
		t.Fatal(err)
	}
	ref := new(Reference)
	e.Reference(ref, e.Parts(0)[0], 0, c.Elems, inputs(c.Type, ranks))
	return ref
}

func TestReferenceFloats(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	big, tiny := math.MaxFloat64, math.SmallestNonzeroFloat64
	tests := []struct {
		name string
		typ  dtype.Type
		op   tl.ReduceOp
		x    []float64 // by rank
		want float64
	}{
		{"sum", dtype.F16, tl.Sum, []float64{1, 2, 4}, 7},
		{"avg", dtype.F32, tl.Avg, []float64{1, 2, 6}, 3},
		{"avg of one", dtype.F32, tl.Avg, []float64{5}, 5},
		{"prod", dtype.F32, tl.Prod, []float64{3, -2, 4}, -24},
		{"max", dtype.BF16, tl.Max, []float64{3, -2, 4}, 4},
		{"min", dtype.BF16, tl.Min, []float64{3, -2, 4}, -2},
		{"cancelling", dtype.F64, tl.Sum, []float64{1e100, 1, -1e100}, 1},
		{"sum that overflows on the way", dtype.F64, tl.Sum, []float64{big, big, -big}, big},
		{"sum that overflows", dtype.F64, tl.Sum, []float64{big, big, 1}, inf},
		{"avg that overflows on the way", dtype.F64, tl.Avg, []float64{big, big, big}, big},
		{"sum beyond f16 is finite here", dtype.F16, tl.Sum, []float64{65504, 65504}, 131008},
		{"infinite sum", dtype.F16, tl.Sum, []float64{1, inf, 2}, inf},
		{"inf minus inf", dtype.F16, tl.Sum, []float64{inf, 1, -inf}, nan},
		{"nan sum", dtype.F16, tl.Sum, []float64{nan, 1, inf}, nan},
		{"nan max", dtype.F16, tl.Max, []float64{1, nan, 2}, nan},
		{"inf max", dtype.F16, tl.Max, []float64{1, inf, 2}, inf},
		{"prod with zero", dtype.F16, tl.Prod, []float64{5, 0, 7}, 0},
		{"prod with zero and inf", dtype.F16, tl.Prod, []float64{5, 0, inf}, nan},
		{"prod with inf", dtype.F16, tl.Prod, []float64{5, -inf, 7}, -inf},
		{"prod that overflows on the way", dtype.F64, tl.Prod, []float64{1e300, 1e300, 1e-300}, 1e300},
		{"prod that underflows on the way", dtype.F64, tl.Prod, []float64{1e-300, 1e-300, 1e300}, 1e-300},
		{"prod of tiny", dtype.F64, tl.Prod, []float64{tiny, 0.5, 4}, 2 * tiny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ranks := make([][]float64, len(tt.x))
			for r, v := range tt.x {
				ranks[r] = []float64{0.5, v} // a second element that is no trouble
			}
			ref := reference(t, Call{World: len(tt.x), Elems: 2, Type: tt.typ, Op: tt.op}, ranks)
			got := ref.Value[1]
			if want := strings.HasSuffix(tt.name, "that overflows"); ref.Beyond[1] != want || ref.Beyond[0] {
				t.Errorf("Beyond = %v, want %v for the second", ref.Beyond, want)
			}
			if math.Abs(got-tt.want) <= 1e-15*math.Abs(tt.want) || got == tt.want || got != got && tt.want != tt.want {
				return
			}
			t.Errorf("got %v, want %v", got, tt.want)
		})
	}
}

func TestReferenceIntegers(t *testing.T) {
	tests := []struct {
		name string
		typ  dtype.Type
		op   tl.ReduceOp
		x    []float64
		want int64
	}{
		{"sum wraps", dtype.I8, tl.Sum, []float64{100, 100, 100}, 44},
		{"unsigned sum wraps", dtype.U8, tl.Sum, []float64{200, 100}, 44},
		{"prod wraps", dtype.I16, tl.Prod, []float64{300, 300}, 24464},
		{"i64 sum wraps", dtype.I64, tl.Sum, []float64{0x1p62, 0x1p62}, math.MinInt64},
		{"avg of the wrapped sum, towards zero", dtype.I8, tl.Avg, []float64{100, 100, 51}, -1},
		{"avg", dtype.I32, tl.Avg, []float64{-7, 0}, -3},
		{"max", dtype.I8, tl.Max, []float64{-5, -3}, -3},
		{"min", dtype.U8, tl.Min, []float64{200, 255}, 200},
	}
	for _, tt := range tests {
		ranks := make([][]float64, len(tt.x))
		for r, v := range tt.x {
			ranks[r] = []float64{v}
		}
		ref := reference(t, Call{World: len(tt.x), Elems: 1, Type: tt.typ, Op: tt.op}, ranks)
		if ref.Int[0] != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, ref.Int[0], tt.want)
		}
	}
}

// The reference must be within Error of a result in arbitrary precision.
func TestReferenceError(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		world := rapid.IntRange(1, 40).Draw(rt, "world")
		op := rapid.SampledFrom([]tl.ReduceOp{tl.Sum, tl.Avg, tl.Prod}).Draw(rt, "op")
		ranks := make([][]float64, world)
		typ := rapid.SampledFrom([]dtype.Type{dtype.F64, dtype.F32}).Draw(rt, "type")
		sum, prod := new(big.Float).SetPrec(3000), new(big.Float).SetPrec(3000).SetInt64(1)
		for r := range ranks {
			v := rapid.Float64Range(-1e9, 1e9).Draw(rt, "x")
			if typ == dtype.F32 {
				v = float64(float32(v))
			}
			ranks[r] = []float64{v}
			b := new(big.Float).SetPrec(3000).SetFloat64(v)
			sum.Add(sum, b)
			prod.Mul(prod, b)
		}
		ref := reference(t, Call{World: world, Elems: 1, Type: typ, Op: op}, ranks)
		want := sum
		switch op {
		case tl.Avg:
			want.Quo(want, new(big.Float).SetInt64(int64(world)))
		case tl.Prod:
			want = prod
		}
		exact, _ := want.Float64()
		diff, _ := new(big.Float).Sub(want, new(big.Float).SetFloat64(ref.Value[0])).Float64()
		if limit := ref.Error(0) + math.SmallestNonzeroFloat64; math.Abs(diff) > limit && !math.IsInf(exact, 0) {
			rt.Fatalf("%v of %v: %v, exact %v, off by %g, allowed %g", op, ranks, ref.Value[0], exact, diff, limit)
		}
	})
}

func ExampleExpectation() {
	c := Call{World: 3, Elems: 7, Type: dtype.F32, Op: tl.Sum}
	e, err := ReduceScatter.Expect(NewHasher(1, false), c)
	if err != nil {
		fmt.Println(err)
		return
	}
	for rank := range c.World {
		for _, p := range e.Parts(rank) {
			fmt.Printf("rank %d: %d elements from index %d of %d ranks\n", rank, p.N, p.Base, p.From.N)
		}
	}
	// Output:
	// rank 0: 3 elements from index 0 of 3 ranks
	// rank 1: 2 elements from index 3 of 3 ranks
	// rank 2: 2 elements from index 5 of 3 ranks
}

func BenchmarkReferenceSumF16(b *testing.B) {
	const world, elems = 256, 4096
	c := Call{World: world, Elems: elems, Type: dtype.F16, Op: tl.Sum}
	e, err := AllReduce.Expect(NewHasher(1, false), c)
	if err != nil {
		b.Fatal(err)
	}
	x := make([]byte, 2*elems)
	dtype.Fill(dtype.F16, x, 1.5)
	in := func(int) []byte { return x }
	ref := new(Reference)
	e.Reference(ref, e.Parts(0)[0], 0, elems, in)
	b.ReportAllocs()
	for b.Loop() {
		e.Reference(ref, e.Parts(0)[0], 0, elems, in)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(world*elems), "ns/elem")
}
