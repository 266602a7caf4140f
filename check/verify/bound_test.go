package verify

import (
	"math"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	_ "kernbench/internal/fixedseed"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// The bound must hold for every type and operation, and every order of a correct reduction: a judge
// that cries wolf is no judge. Values are drawn over the whole range of the type, subnormals
// included.
func TestAnyOrderIsWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call := collective.Call{
			World: rapid.IntRange(1, 24).Draw(t, "world"),
			Elems: 3,
			Type:  rapid.SampledFrom(dtype.Types()).Draw(t, "type"),
			Op:    rapid.SampledFrom(tl.ReduceOps()).Draw(t, "op"),
		}
		top := int(math.Log2(dtype.MaxFinite(call.Type)) - 0.5)
		low := -top - 10
		if rapid.Bool().Draw(t, "moderate") {
			low, top = -3, 3
		}
		w := newWorld(collective.AllReduce, call, false, func(int, int) float64 {
			m := rapid.Float64Range(-2, 2).Draw(t, "mantissa")
			return math.Ldexp(m, rapid.IntRange(low, top-1).Draw(t, "exponent"))
		})

		// avg in one of three ways: divide at the end, times the reciprocal, scale first
		form := 0
		n := float64(call.World)
		if call.Op == tl.Avg && call.Type.IsFloat() {
			form = rapid.IntRange(0, 2).Draw(t, "way")
		}
		var parts []vector
		for r := range call.World {
			v := w.own(r)
			if form == 2 {
				v = w.scale(v, dtype.Mul, 1/n)
			}
			parts = append(parts, v)
		}
		for len(parts) > 1 { // a random tree
			i := rapid.IntRange(0, len(parts)-1).Draw(t, "i")
			a := parts[i]
			parts[i] = parts[len(parts)-1]
			parts = parts[:len(parts)-1]
			j := rapid.IntRange(0, len(parts)-1).Draw(t, "j")
			parts[j] = w.add(a, parts[j])
		}
		res := parts[0]
		switch {
		case form == 1:
			res = w.scale(res, dtype.Mul, 1/n)
		case form == 0:
			res = w.finish(res)
		}
		w.set(res)
		v := judge(t, w.input())
		if v.Provenance.Status != OK {
			t.Fatalf("provenance %v: %v", v.Provenance, v.Failures)
		}
		// An intermediate overflow is reported as a limit of the type.
		if v.Values.Status != OK && v.Failures[0].Wrong > v.Overflow.Elements/call.World {
			t.Fatalf("values %v: %v", v.Values, v.Failures)
		}
	})
}

func TestBounds(t *testing.T) {
	call := func(op tl.ReduceOp, typ dtype.Type) collective.Call {
		return collective.Call{World: 256, Elems: 1, Type: typ, Op: op}
	}
	tests := []struct {
		name  string
		call  collective.Call
		n     int
		depth int
		want  float64
	}{
		{"a chain of 256 in f16", call(tl.Sum, dtype.F16), 256, 255, 255.0 / 2048},
		{"unknown depth", call(tl.Sum, dtype.F16), 256, -1, 255.0 / 2048},
		{"a tree of 256", call(tl.Sum, dtype.F16), 256, 8, math.Pow(1+1.0/2048, 8) - 1},
		{"beyond where gamma exists", call(tl.Sum, dtype.BF16), 512, -1, 511.0 / 256},
		{"a product", call(tl.Prod, dtype.F32), 2, -1, 0x1p-24},
		{"max", call(tl.Max, dtype.F16), 256, -1, 0},
		{"integers", call(tl.Sum, dtype.I8), 256, -1, 0},
		{"one rank", call(tl.Sum, dtype.F16), 1, -1, 0},
		{"one rank, converted on the way", call(tl.Sum, dtype.F16), 1, 2, math.Pow(1+1.0/2048, 2) - 1},
		{"an average at the end", call(tl.Avg, dtype.F16), 4, 4, math.Pow(1+1.0/2048, 5) - 1},
	}
	for _, tt := range tests {
		if got := newBound(tt.call, tt.n, tt.depth).relative; math.Abs(got-tt.want) > 1e-12*tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
