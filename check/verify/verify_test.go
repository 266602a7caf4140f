package verify

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// judge judges, and again by what was expected before the inputs were overwritten: that comes to
// the same.
func judge(t rapid.TB, in Input) *Verdict {
	t.Helper()
	v, err := Check(in)
	if err != nil || in.Out == nil {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	e, err := Expect(in.Collective, in.Call, in.In)
	if err != nil {
		t.Fatal(err)
	}
	if e == nil {
		return v
	}
	in.Expected, in.In = e, func(int) []byte { panic("inputs are asked for") }
	if again, err := Check(in); err != nil || !reflect.DeepEqual(again, v) {
		t.Fatalf("by what was expected before: %v\n%+v, by inputs\n%+v", err, again, v)
	}
	return v
}

// Results that are no reduction of all contributions need the inputs.
func TestExpectOnlyReductions(t *testing.T) {
	for _, co := range collective.All() {
		call := collective.Call{World: 4, Elems: 8, Type: dtype.F32}
		w := newWorld(co, call, false, rankPlusOne)
		e, err := Expect(co, call, func(r int) []byte { return w.in[r] })
		if want := co == collective.AllReduce || co == collective.Reduce ||
			co == collective.ReduceScatter; err != nil || (e != nil) != want {
			t.Errorf("%s: %v, %v", co.Name, e != nil, err)
		}
	}
	if _, err := Expect(collective.AllReduce, sumOf(2, 3, dtype.F32), func(int) []byte { return make([]byte, 8) }); err == nil {
		t.Error("8 bytes are not 3 elements")
	}
}

func sumOf(worldSize, elems int, typ dtype.Type) collective.Call {
	return collective.Call{World: worldSize, Elems: elems, Type: typ, Op: tl.Sum}
}

func rankPlusOne(rank, _ int) float64 { return float64(rank + 1) }

// An all-reduce over 256 ranks with inputs 1 ... 256 that lost the 13 largest of them is 9.9 %
// short. That is within a tolerance of 10 %, and within the rounding that f16 may need. The check
// must fail nevertheless and list the missing ranks.
func TestThirteenLargestOfTwoHundredFiftySixMissing(t *testing.T) {
	w := newWorld(collective.AllReduce, sumOf(256, 8, dtype.F16), true, rankPlusOne)
	var kept []int
	for r := range 256 - 13 {
		kept = append(kept, r)
	}
	w.set(w.tree(kept...))

	const exact = 256 * 257 / 2
	got := dtype.At(dtype.F16, w.out[0].data, 0)
	if short := math.Abs(got-exact) / exact; short > 0.10 {
		t.Fatalf("the result is %.1f %% off: this test is about one that a 10 %% tolerance accepts", 100*short)
	}

	v := judge(t, w.input())
	if v.Provenance.Status != Fail || v.OK() || v.RanksFail != 256 || v.RanksOK != 0 || len(v.Failing) != 256 {
		t.Fatalf("verdict %+v, want all 256 ranks to fail by provenance", v)
	}
	if len(v.Failures) != MaxFailures {
		t.Errorf("%d failures in detail, want %d", len(v.Failures), MaxFailures)
	}
	for _, f := range v.Failures {
		var missing []int
		for _, c := range f.Missing {
			missing = append(missing, c.Rank)
		}
		want := []int{243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255}
		if !slices.Equal(missing, want) || len(f.Duplicated)+len(f.Unexpected) != 0 {
			t.Errorf("rank %d: missing %v, want %v; %v", f.Rank, missing, want, f)
		}
	}
	if s := v.Failures[0].String(); !strings.Contains(s, "13 of 256 contributions missing: ranks 243-255") {
		t.Errorf("failure reads %q", s)
	}

	// Without explicit sets the verdict is the same and the reason is a count.
	w2 := newWorld(collective.AllReduce, w.call, false, rankPlusOne)
	w2.set(w2.tree(kept...))
	if f := judge(t, w2.input()).Failures[0]; f.Reason != "243 contributions, expected 256" {
		t.Errorf("without explain: %q", f.Reason)
	}
}

func TestVerdicts(t *testing.T) {
	type damage = func(w *world)
	tests := []struct {
		name    string
		co      *collective.Collective
		call    collective.Call
		do      damage
		prov    Status
		values  Status
		fail    int      // ranks
		reasons []string // in Failures[0].String()
	}{
		{name: "a ring sum", call: sumOf(8, 5, dtype.F16), do: (*world).ring, prov: OK, values: OK},
		{name: "a ring average", call: collective.Call{World: 8, Elems: 5, Type: dtype.F32, Op: tl.Avg},
			do: (*world).ring, prov: OK, values: OK},
		{name: "an average of integers", call: collective.Call{World: 3, Elems: 5, Type: dtype.I32, Op: tl.Avg},
			do: (*world).ring, prov: OK, values: OK},
		{name: "one rank alone", call: sumOf(1, 5, dtype.BF16), do: (*world).ring, prov: OK, values: OK},
		{name: "no elements", call: sumOf(4, 0, dtype.F32), do: (*world).ring, prov: OK, values: OK},
		{name: "one contribution twice", call: sumOf(4, 5, dtype.F32),
			do:   func(w *world) { w.ring(); w.set(w.chain(0, 1, 2, 2, 3), 2) },
			prov: Fail, values: Fail, fail: 1,
			reasons: []string{"rank 2 (sip0.cube0.pe2), element 0 and 4 more: got 13, expected 10",
				"counted more than once: rank 2 (2 times)"}},
		{name: "a maximum that counts one twice is right in value only",
			call: collective.Call{World: 4, Elems: 5, Type: dtype.F32, Op: tl.Max},
			do:   func(w *world) { w.ring(); w.set(w.chain(0, 1, 2, 2, 3), 2) },
			prov: Fail, values: OK, fail: 1, reasons: []string{"counted more than once: rank 2 (2 times)"}},
		{name: "one contribution instead of another", call: sumOf(4, 5, dtype.I32),
			do:   func(w *world) { w.ring(); w.set(w.chain(0, 1, 2, 2), 3) },
			prov: Fail, values: Fail, fail: 1,
			reasons: []string{"got 9, expected 10", "1 of 4 contributions missing: rank 3", "counted more than once: rank 2 (2 times)"}},
		{name: "another rank's element", call: sumOf(2, 4, dtype.F32),
			do: func(w *world) {
				w.ring()
				p := w.out[1].prov
				moved := w.h.Merge(nil, collective.Slice(nil, w.own(0).prov, 3, 1), collective.Slice(nil, w.own(1).prov, 2, 1), 7)
				w.out[1].prov = collective.Overwrite(p, 2, moved)
			},
			prov: Fail, values: OK, fail: 1,
			reasons: []string{"rank 1 (sip0.cube0.pe1), element 2:",
				"1 of 2 contributions missing: rank 0 (input element 2)", "not expected in this element: rank 0 (input element 3)"}},
		{name: "nothing written", call: sumOf(2, 4, dtype.F32),
			do: func(w *world) {
				w.ring()
				w.out[0].prov = collective.Overwrite(w.out[0].prov, 1, collective.MakeUnwritten(nil, 1))
			},
			prov: Fail, values: OK, fail: 1, reasons: []string{"element 1", "never written"}},
		{name: "a constant", call: sumOf(2, 4, dtype.F32),
			do:   func(w *world) { w.ring(); w.set(vector{make([]byte, 16), collective.MakeConstant(nil, 4)}, 1) },
			prov: Fail, values: Fail, fail: 1, reasons: []string{"a constant without any contribution"}},
		{name: "zeros that nothing was added to", call: sumOf(2, 4, dtype.F32),
			do:   func(w *world) { w.ring(); w.set(vector{make([]byte, 16), collective.MakeNeutral(nil, 4)}, 1) },
			prov: Fail, values: Fail, fail: 1, reasons: []string{"no contribution at all"}},
		{name: "an operation that a sum does not mean", call: sumOf(2, 4, dtype.F32),
			do:   func(w *world) { w.ring(); w.out[1].prov = collective.Obscure(nil, w.out[1].prov, 9) },
			prov: Fail, values: OK, fail: 1, reasons: []string{"computed by op#9: either it is no operation of all_reduce sum"}},
		{name: "an average without its division", call: collective.Call{World: 4, Elems: 2, Type: dtype.F32, Op: tl.Avg},
			do:   func(w *world) { w.set(w.chain(0, 1, 2, 3)) },
			prov: Fail, values: Fail, fail: 4, reasons: []string{"not divided by the number of ranks"}},
		{name: "an average divided twice", call: collective.Call{World: 4, Elems: 2, Type: dtype.F32, Op: tl.Avg},
			do:   func(w *world) { w.set(w.scale(w.finish(w.chain(0, 1, 2, 3)), dtype.Div, 4)) },
			prov: Fail, values: Fail, fail: 4, reasons: []string{"computed by op#8"}},
		{name: "wrong bits under right provenance", call: sumOf(2, 4, dtype.F32),
			do:   func(w *world) { w.ring(); dtype.Set(dtype.F32, w.out[1].data, 3, 3.5) },
			prov: OK, values: Fail, fail: 1, reasons: []string{"element 3: got 3.5, expected 3 ± "}},
		{name: "a NaN", call: sumOf(2, 4, dtype.F32),
			do:   func(w *world) { w.ring(); dtype.Set(dtype.F32, w.out[1].data, 3, math.NaN()) },
			prov: OK, values: Fail, fail: 1, reasons: []string{"got NaN"}},
		{name: "a shift", co: collective.Shift, call: sumOf(3, 4, dtype.F16),
			do: func(w *world) {
				for r := range 3 {
					w.set(w.own((r+2)%3), r)
				}
			}, prov: OK, values: OK},
		{name: "a shift the wrong way", co: collective.Shift, call: sumOf(3, 4, dtype.F16),
			do: func(w *world) {
				for r := range 3 {
					w.set(w.own((r+1)%3), r)
				}
			}, prov: Fail, values: Fail, fail: 3, reasons: []string{"missing: rank 2", "not expected in this element: rank 1"}},
		{name: "an all-gather with two blocks swapped on one rank", co: collective.AllGather, call: sumOf(3, 2, dtype.F16),
			do: func(w *world) {
				gather := func(ranks ...int) (v vector) {
					for _, r := range ranks {
						o := w.own(r)
						v = vector{append(v.data, o.data...), collective.Concat(v.prov, o.prov)}
					}
					return v
				}
				w.set(gather(0, 1, 2))
				w.set(gather(0, 2, 1), 1)
			}, prov: Fail, values: Fail, fail: 1, reasons: []string{"rank 1 (sip0.cube0.pe1), element 2 and 3 more: got 3, expected 2"}},
		{name: "a reduce-scatter", co: collective.ReduceScatter, call: sumOf(3, 7, dtype.F16),
			do: func(w *world) {
				all := w.chain(2, 0, 1)
				at := 0
				for r := range 3 {
					n := w.co.Out(w.call, r)
					w.set(vector{all.data[2*at : 2*(at+n)], collective.Slice(nil, all.prov, at, n)}, r)
					at += n
				}
			}, prov: OK, values: OK},
		{name: "a barrier", co: collective.Barrier, call: sumOf(3, 7, dtype.F16), do: func(*world) {}, prov: OK, values: OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			co := tt.co
			if co == nil {
				co = collective.AllReduce
			}
			w := newWorld(co, tt.call, true, rankPlusOne)
			tt.do(w)
			v := judge(t, w.input())
			if v.Provenance.Status != tt.prov || v.Values.Status != tt.values {
				t.Errorf("provenance %v, values %v; want %v and %v", v.Provenance, v.Values, tt.prov, tt.values)
			}
			if v.RanksFail != tt.fail || v.RanksOK != tt.call.World-tt.fail || v.OK() != (tt.fail == 0) {
				t.Errorf("%d ranks fail, %d are right, OK %v; want %d to fail", v.RanksFail, v.RanksOK, v.OK(), tt.fail)
			}
			for _, want := range tt.reasons {
				if s := fmt.Sprint(v.Failures[0]); !strings.Contains(s, want) {
					t.Errorf("failure reads\n%s\nwant it to contain\n%s", s, want)
				}
			}
		})
	}
}

func TestSingleMissingWithoutExplain(t *testing.T) {
	w := newWorld(collective.AllReduce, sumOf(5, 3, dtype.F32), false, rankPlusOne)
	w.ring()
	w.set(w.chain(0, 1, 2, 4), 0)
	w.set(w.chain(0, 1, 2, 3, 3, 4), 1)
	v := judge(t, w.input())
	for i, want := range []string{"1 of 5 contributions missing: rank 3", "counted more than once: rank 3 (2 times)"} {
		if got := v.Failures[i].Reason; !strings.HasPrefix(got, want) {
			t.Errorf("rank %d: %q, want %q", i, got, want)
		}
	}
}

func TestNotCheckedAndNotApplicable(t *testing.T) {
	w := newWorld(collective.AllReduce, sumOf(2, 3, dtype.F32), false, rankPlusOne)
	w.ring()
	in := w.input()
	in.Out, in.Prov, in.NotChecked = nil, nil, "add --verify-data"
	v := judge(t, in)
	if v.OK() || v.Provenance.String() != "not checked: add --verify-data" || v.Values.String() != "not checked: add --verify-data" {
		t.Errorf("without data: OK %v, provenance %q, values %q", v.OK(), v.Provenance, v.Values)
	}
	in = w.input()
	in.NotApplicable = "the kernel computes exp"
	v = judge(t, in)
	if !v.OK() || v.Provenance.String() != "not applicable: the kernel computes exp" || v.Values.Status != OK {
		t.Errorf("where provenance does not apply: %+v", v)
	}
}

func TestBadData(t *testing.T) {
	ok := newWorld(collective.AllReduce, sumOf(2, 3, dtype.F32), false, rankPlusOne)
	ok.ring()
	tests := []struct {
		name   string
		change func(*Input)
		want   string
	}{
		{"no ranks", func(in *Input) { in.Call.World = 0 }, "at least one"},
		{"short output", func(in *Input) { in.Out = func(int) []byte { return make([]byte, 8) } }, "output of rank 0 has 8 bytes, not 12"},
		{"long input", func(in *Input) { in.In = func(int) []byte { return make([]byte, 16) } }, "input of rank 0 has 16 bytes, not 12"},
		{"short provenance", func(in *Input) {
			in.Prov = func(int) collective.Prov { return collective.MakeNeutral(nil, 2) }
		}, "provenance of rank 0 is of 2 elements, not 3"},
	}
	for _, tt := range tests {
		in := ok.input()
		tt.change(&in)
		if _, err := Check(in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want it to contain %q", tt.name, err, tt.want)
		}
	}
}

// In f16 a ring sums in a different order on each rank, and rounds differently.
func TestDistinctResults(t *testing.T) {
	w := newWorld(collective.AllReduce, sumOf(8, 16, dtype.F16), false, func(r, i int) float64 { return 1 / float64(3+r*7+i) })
	w.ring()
	v := judge(t, w.input())
	if !v.OK() || v.DistinctResults < 2 || v.DifferingRanks < v.DistinctResults-1 {
		t.Errorf("OK %v, %d distinct results, %d ranks differ from rank 0", v.OK(), v.DistinctResults, v.DifferingRanks)
	}
	w.set(w.out[3])
	if v := judge(t, w.input()); !v.OK() || v.DistinctResults != 1 || v.DifferingRanks != 0 {
		t.Errorf("all alike: OK %v, %d distinct, %d differ", v.OK(), v.DistinctResults, v.DifferingRanks)
	}
}

// A result that is infinite or NaN is wrong unless contributions were. This holds in every float
// type, whether the exact result fits, only a partial one does not fit, or neither fits.
func TestOverflow(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, typ := range []dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64} {
		big := dtype.MaxFinite(typ)
		tests := []struct {
			name    string
			op      tl.ReduceOp
			x       []float64 // by rank
			values  Status
			inRange int // -1: none overflows
			text    string
		}{
			{"the exact sum is beyond the type", tl.Sum, []float64{big, big, 1}, Fail, 0, "the exact result does not fit"},
			{"the exact product is", tl.Prod, []float64{big, -big, 1}, Fail, 0, "the exact result does not fit"},
			{"only a partial sum is", tl.Sum, []float64{big, big, -big}, Fail, 3, "the exact result fits, a partial result does not"},
			{"only the sum of an average is", tl.Avg, []float64{big, big / 2, big / 2}, Fail, 3,
				"the exact result fits, a partial result does not"},
			{"the largest", tl.Sum, []float64{big, 0, 0}, OK, -1, ""},
			{"a contribution is infinite", tl.Sum, []float64{inf, 2, 1}, OK, -1, ""},
			{"contributions of either sign are", tl.Sum, []float64{inf, -inf, 1}, OK, -1, ""},
			{"a contribution is NaN", tl.Sum, []float64{nan, 2, 1}, OK, -1, ""},
			{"a maximum of infinity", tl.Max, []float64{inf, 2, 1}, OK, -1, ""},
			{"a minimum beside infinity", tl.Min, []float64{inf, 2, 1}, OK, -1, ""},
		}
		for _, tt := range tests {
			t.Run(typ.String()+" "+tt.name, func(t *testing.T) {
				call := collective.Call{World: 3, Elems: 1, Type: typ, Op: tt.op}
				w := newWorld(collective.AllReduce, call, false, func(r, _ int) float64 { return tt.x[r] })
				w.set(w.finish(w.chain(0, 1, 2)))
				in := w.input()
				in.Overflow = "rank 0 add at ring.go:12"
				v := judge(t, in)
				if v.Values.Status != tt.values || v.OK() != (tt.values == OK) {
					t.Errorf("values %v, want %v", v.Values, tt.values)
				}
				if tt.inRange < 0 {
					if v.Overflow.Elements != 0 {
						t.Errorf("overflow %+v, want none", v.Overflow)
					}
					return
				}
				if v.Overflow.Elements != 3 || v.Overflow.InRange != tt.inRange || len(v.Failures) != 3 ||
					!strings.Contains(v.Values.Text, "overflow of "+typ.String()) || !strings.Contains(v.Values.Text, tt.text) {
					t.Fatalf("overflow %+v, text %q", v.Overflow, v.Values.Text)
				}
				if f := v.Failures[0]; f.Contributors || !strings.Contains(f.Reason, "overflow") ||
					!strings.HasSuffix(f.Reason, "first: rank 0 add at ring.go:12") {
					t.Errorf("failure %v", f)
				}
			})
		}
	}
}

// A finite number is wrong where a contribution is infinite. It is also wrong where the type cannot
// hold the result.
func TestFiniteInsteadOfInfinity(t *testing.T) {
	for _, x := range [][]float64{{math.Inf(1), 1}, {60000, 60000}} {
		w := newWorld(collective.AllReduce, sumOf(2, 1, dtype.F16), false, func(r, _ int) float64 { return x[r] })
		v := w.chain(0, 1)
		dtype.Set(dtype.F16, v.data, 0, 65504)
		w.set(v)
		if v := judge(t, w.input()); v.Values.Status != Fail {
			t.Errorf("%v: values %v", x, v.Values)
		}
	}
}

// Sums and products of integers wrap modulo 2^bits, and so does what is expected.
func TestIntegersWrap(t *testing.T) {
	for _, typ := range []dtype.Type{dtype.I8, dtype.I16, dtype.I32, dtype.I64, dtype.U8} {
		for _, op := range []tl.ReduceOp{tl.Sum, tl.Prod} {
			call := collective.Call{World: 5, Elems: 2, Type: typ, Op: op}
			w := newWorld(collective.AllReduce, call, false, func(r, i int) float64 { return dtype.MaxFinite(typ) - float64(r+i) })
			w.set(w.chain(0, 1, 2, 3, 4))
			if v := judge(t, w.input()); !v.OK() || v.Values.Status != OK {
				t.Errorf("%v %v: %v", typ, op, v.Values)
			}
		}
	}
}

func TestManyNamesAreCutShort(t *testing.T) {
	var cs []collective.Contributor
	for r := range 40 {
		cs = append(cs, collective.Contributor{Rank: 2 * r, Index: 1, Count: 1})
	}
	if got := names(cs); !strings.HasSuffix(got, "28, 30 and 24 more (input element 1)") {
		t.Errorf("names = %q", got)
	}
	cs = []collective.Contributor{{Rank: 1, Index: 4, Count: 1}, {Rank: 2, Index: 4, Count: 1}, {Rank: 3, Index: 5, Count: 3}}
	if got, want := names(cs), "ranks 1-2[4], 3[5] (3 times)"; got != want {
		t.Errorf("names = %q, want %q", got, want)
	}
}
