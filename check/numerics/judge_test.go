package numerics

import (
	"math"
	"strings"
	"testing"

	"kernbench/dtype"
	_ "kernbench/internal/fixedseed"
	"kernbench/record/oplog"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// encoded are values as a rank has them.
func encoded(t dtype.Type, values ...float64) []byte {
	b := make([]byte, len(values)*t.Size())
	for i, v := range values {
		dtype.Set(t, b, i, v)
	}
	return b
}

// part is a partial result, in the type in which sums are made.
type part struct {
	value []byte
	tree  oplog.Tree
}

func unitOf(t dtype.Type) uint64 { return uint64(dtype.Epsilon(t) * 0x1p53) }

func add(t dtype.Type, a, b part) part {
	out := make([]byte, t.Size())
	dtype.Binary(dtype.Add, t, out, a.value, b.value)
	return part{out, oplog.Tree{
		Terms: a.tree.Terms + b.tree.Terms, Height: max(a.tree.Height, b.tree.Height) + 1,
		Growth: max(a.tree.Growth, b.tree.Growth) + unitOf(t),
	}}
}

// converted returns a part in another type, which rounds where that is narrower.
func converted(to, from dtype.Type, a part) part {
	out := make([]byte, to.Size())
	dtype.Convert(to, from, out, a.value)
	a.value = out
	if to.Size() < from.Size() {
		a.tree.Height, a.tree.Growth = a.tree.Height+1, a.tree.Growth+unitOf(to)
	}
	return a
}

// No result is farther off than the bound of its tree, for all inputs, types, orders of additions
// and types of partial sums.
func TestNoErrorBeyondItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(floats).Draw(t, "type")
		acc := typ
		if typ.Size() == 2 && rapid.Bool().Draw(t, "accumulate in f32") {
			acc = dtype.F32
		}
		op := rapid.SampledFrom([]tl.ReduceOp{tl.Sum, tl.Avg}).Draw(t, "op")
		world := rapid.IntRange(1, 40).Draw(t, "ranks")
		set := rapid.SampledFrom(sets).Draw(t, "inputs")
		seed := rapid.Uint64().Draw(t, "seed")
		in := make([][]byte, world)
		var parts []part
		for r := range in {
			in[r] = set.Append(nil, typ, seed, world, r, 1)
			parts = append(parts, converted(acc, typ, part{in[r], oplog.Tree{Terms: 1}}))
		}
		for len(parts) > 1 {
			i := rapid.IntRange(1, len(parts)-1).Draw(t, "one")
			k := rapid.IntRange(0, i-1).Draw(t, "other")
			parts[k] = add(acc, parts[k], parts[i])
			parts = append(parts[:i], parts[i+1:]...)
		}
		out := parts[0]
		if op == tl.Avg && world > 1 {
			scaled := make([]byte, acc.Size())
			dtype.BinaryScalar(dtype.Div, acc, scaled, out.value, float64(world))
			out.value = scaled
			out.tree.Height, out.tree.Growth = out.tree.Height+1, out.tree.Growth+unitOf(acc)
		}
		out = converted(typ, acc, out)
		r, err := Judge(Input{Type: typ, Op: op, World: world, In: func(r int) []byte { return in[r] },
			Results: []Result{{Out: out.value, Trees: []oplog.Tree{out.tree}}}})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Within() || r.OfBound > 1 || r.Incomplete != 0 || r.MaxHeight != out.tree.Height {
			t.Fatalf("%s of %d in %v: %+v, worst %+v", set.Name, world, typ, *r, r.Worst)
		}
	})
}

// serial sums up ones one after the other, and reports the height that the function height returns.
func serial(t *testing.T, typ dtype.Type, op tl.ReduceOp, values []float64, height func(uint32) uint32) *Report {
	t.Helper()
	in := make([][]byte, len(values))
	var acc part
	for r, v := range values {
		in[r] = encoded(typ, v)
		if p := (part{in[r], oplog.Tree{Terms: 1}}); r == 0 {
			acc = p
		} else {
			acc = add(typ, acc, p)
		}
	}
	acc.tree.Height = height(acc.tree.Height)
	acc.tree.Growth = uint64(acc.tree.Height) * unitOf(typ)
	r, err := Judge(Input{Type: typ, Op: op, World: len(values), In: func(r int) []byte { return in[r] },
		Results: []Result{{Rank: 3, Out: acc.value, Trees: []oplog.Tree{acc.tree}}}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func repeat(n int, v func(int) float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v(i)
	}
	return all
}

// If a serial sum claims to be a tree of little height, its bound is too small, and the test finds
// that.
func TestWrongHeightIsCaught(t *testing.T) {
	ones := repeat(300, func(int) float64 { return 1 })
	honest := func(h uint32) uint32 { return h }
	r := serial(t, dtype.BF16, tl.Sum, ones, honest)
	if !r.Within() || r.MaxULP != 22 || r.BoundULP < 22 || *r.Worst != (Worst{Rank: 3, Got: 256, Exact: 300}) {
		t.Errorf("as it is: %+v, worst %+v", *r, r.Worst)
	}
	r = serial(t, dtype.BF16, tl.Sum, ones, func(uint32) uint32 { return 9 })
	if r.Within() || r.Beyond != 1 || r.OfBound <= 1 {
		t.Errorf("as if it was a balanced tree: %+v", *r)
	}
}

// tree returns a tree of a number of contributions, in one type.
func tree(t dtype.Type, terms, height uint32) oplog.Tree {
	return oplog.Tree{Terms: terms, Height: height, Growth: uint64(height) * unitOf(t)}
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   Input
		want Report
	}{
		{"one rank", Input{Type: dtype.F16, World: 1, In: func(int) []byte { return encoded(dtype.F16, 3, 0) },
			Results: []Result{{Out: encoded(dtype.F16, 3, 0), Trees: []oplog.Tree{{Terms: 1}, {Terms: 1}}}}},
			Report{Elements: 2, Nearest: 2, Condition: 1}},
		{"a missing contribution", Input{Type: dtype.F32, World: 2, In: func(int) []byte { return encoded(dtype.F32, 1) },
			Results: []Result{{Out: encoded(dtype.F32, 1), Trees: []oplog.Tree{{Terms: 1}}}}},
			Report{Elements: 1, Incomplete: 1, MaxULP: 0x1p22, MeanULP: 0x1p22, Worst: &Worst{Got: 1, Exact: 2}, Beyond: 1, Condition: 1}},
		{"chunks, the second of two ranks first",
			Input{Type: dtype.F32, World: 2, In: func(int) []byte { return encoded(dtype.F32, 1, 2, 3) },
				Results: []Result{{Rank: 1, First: 2, Out: encoded(dtype.F32, 6), Trees: []oplog.Tree{tree(dtype.F32, 2, 1)}},
					{Out: encoded(dtype.F32, 2, 4), Trees: []oplog.Tree{tree(dtype.F32, 2, 1), tree(dtype.F32, 2, 1)}}}},
			Report{Elements: 3, MinHeight: 1, MaxHeight: 1, Nearest: 3, BoundULP: 0.75, Factor: 0x1p-24, Condition: 1}},
		{"too large for the type", Input{Type: dtype.F16, World: 2, In: func(int) []byte { return encoded(dtype.F16, 60000) },
			Results: []Result{{Out: encoded(dtype.F16, math.Inf(1)), Trees: []oplog.Tree{tree(dtype.F16, 2, 1)}}}},
			Report{Elements: 1, MinHeight: 1, MaxHeight: 1, Overflow: 1, Factor: 0x1p-11, Condition: 1}},
		{"not too large for the type", Input{Type: dtype.F16, World: 2, In: func(int) []byte { return encoded(dtype.F16, 6000) },
			Results: []Result{{Out: encoded(dtype.F16, math.NaN()), Trees: []oplog.Tree{tree(dtype.F16, 2, 1)}}}},
			Report{Elements: 1, MinHeight: 1, MaxHeight: 1, Overflow: 1, InRange: 1, Factor: 0x1p-11, Condition: 1}},
		{"an average", Input{Type: dtype.BF16, Op: tl.Avg, World: 3, In: func(int) []byte { return encoded(dtype.BF16, 1) },
			Results: []Result{{Out: encoded(dtype.BF16, 1+0x1p-7), Trees: []oplog.Tree{tree(dtype.BF16, 3, 3)}}}},
			Report{Elements: 1, MinHeight: 3, MaxHeight: 3, MaxULP: 1, MeanULP: 1, Worst: &Worst{Got: 1 + 0x1p-7, Exact: 1},
				BoundULP: 128 * math.Expm1(3./256), Factor: math.Expm1(3. / 256), OfBound: 1. / 128 / math.Expm1(3./256), Condition: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Judge(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if (got.Worst == nil) != (tt.want.Worst == nil) || got.Worst != nil && *got.Worst != *tt.want.Worst {
				t.Errorf("worst %+v, want %+v", got.Worst, tt.want.Worst)
			}
			got.Worst, tt.want.Worst = nil, nil
			for _, f := range []*float64{&got.Condition, &got.BoundULP, &got.OfBound} { // these were rounded up
				*f = math.Round(*f*1e12) / 1e12
			}
			for _, f := range []*float64{&tt.want.BoundULP, &tt.want.OfBound} {
				*f = math.Round(*f*1e12) / 1e12
			}
			if *got != tt.want {
				t.Errorf("%+v\nwant %+v", *got, tt.want)
			}
		})
	}
}

func TestJudgeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		typ  dtype.Type
		op   tl.ReduceOp
		v    float64
		want string
	}{
		{"integers", dtype.I32, tl.Sum, 1, "not a float type"},
		{"maxima", dtype.F32, tl.Max, 1, "rounds nothing"},
		{"products", dtype.F32, tl.Prod, 1, "only sum and avg"},
		{"infinities", dtype.F32, tl.Sum, math.Inf(1), "only finite numbers"},
	} {
		_, err := Judge(Input{Type: tt.typ, Op: tt.op, World: 1, In: func(int) []byte { return encoded(tt.typ, tt.v) },
			Results: []Result{{Out: encoded(tt.typ, tt.v)}}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// The bounds before conditioning of the textbook, of 256 ranks.
func TestFactors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		typ    dtype.Type
		height uint32
		want   float64
	}{
		{"bf16 ring: nothing is promised", dtype.BF16, 255, 255. / 256},
		{"bf16 tree", dtype.BF16, 8, math.Expm1(8. / 256)},
		{"f16 ring", dtype.F16, 255, 255. / 2048},
		{"f16 tree", dtype.F16, 8, math.Expm1(8. / 2048)},
		{"f32 tree", dtype.F32, 8, math.Expm1(8 * 0x1p-24)},
	} {
		if got := Factor(tt.typ, tl.Sum, 256, tree(tt.typ, 256, tt.height)); got != tt.want {
			t.Errorf("%s: %g, want %g", tt.name, got, tt.want)
		}
	}
	wide := oplog.Tree{Terms: 256, Height: 256, Growth: 255*unitOf(dtype.F32) + unitOf(dtype.BF16)}
	if got := Factor(dtype.BF16, tl.Sum, 256, wide); math.Abs(got-0x1p-8) > 3e-5 {
		t.Errorf("a ring in f32, rounded once to bf16: %g, want a little more than one rounding, %g", got, 0x1p-8)
	}
	if unknown, ring := Factor(dtype.BF16, tl.Avg, 9, oplog.Tree{}),
		Factor(dtype.BF16, tl.Avg, 9, tree(dtype.BF16, 9, 9)); unknown != ring {
		t.Errorf("a tree that is not known: %g, and a chain %g", unknown, ring)
	}
}

// Each set has its documented properties, in every type.
func TestSets(t *testing.T) {
	for _, typ := range floats {
		for _, s := range Sets() {
			again, err := LookupSet(s.Name)
			if err != nil || again.Name != s.Name {
				t.Fatal(s.Name, err)
			}
			lo, hi, other := math.Inf(1), math.Inf(-1), false
			var sums [64]float64
			for rank := range 8 {
				b := s.Append([]byte{7}, typ, 5, 8, rank, len(sums))[1:]
				if string(b[:8*typ.Size()]) != string(s.Append(nil, typ, 5, 8, rank, 8)) {
					t.Errorf("%s: elements depend on how many there are", s.Name)
				}
				other = other || string(b) != string(s.Append(nil, typ, 6, 8, rank, len(sums)))
				for i := range sums {
					v := dtype.At(typ, b, i)
					sums[i] += v
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			if fixed := s.Name == "ones" || s.Name == "ranks"; other == fixed {
				t.Errorf("%s in %v: by seed %v", s.Name, typ, other)
			}
			ok := map[string]bool{
				"uniform": lo >= 0 && lo < 0.05 && hi > 0.95 && hi <= 1,
				"normal":  lo < -1.5 && lo > -6 && hi > 1.5 && hi < 6,
				"ones":    lo == 1 && hi == 1,
				"ranks":   lo == 1 && hi == 8,
				"wide":    lo < -1000 && hi > 1000 && !math.IsInf(hi, 0) && !math.IsInf(lo, 0),
				"cancel":  lo < -1 && hi > 1 && sums[0] >= 0 && sums[0] < 1,
			}
			if !ok[s.Name] {
				t.Errorf("%s in %v: from %g to %g", s.Name, typ, lo, hi)
			}
		}
	}
	if _, err := LookupSet("none"); err == nil || !strings.Contains(err.Error(), "uniform, normal") {
		t.Errorf("%v", err)
	}
}
