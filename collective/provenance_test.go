package collective

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// element is the naive model of one element: its multiset, label by label.
type element struct {
	kind   Kind
	scaled bool
	why    int32
	set    map[[2]int64]int64
}

func (e element) equal(f element) bool {
	return e.kind == f.kind && e.scaled == f.scaled && e.why == f.why && maps.Equal(e.set, f.set)
}

func opaque(why int32) element { return element{kind: Opaque, why: why} }

func mergeModel(a, b element, why int32) element {
	switch {
	case a.kind == Unwritten || b.kind == Unwritten:
		return element{kind: Unwritten}
	case a.kind == Opaque && b.kind == Opaque:
		return opaque(min(a.why, b.why))
	case a.kind == Opaque:
		return a
	case b.kind == Opaque:
		return b
	case a.kind == Constant || b.kind == Constant:
		return opaque(why)
	case len(a.set) == 0:
		return b
	case len(b.set) == 0:
		return a
	case a.scaled != b.scaled:
		return opaque(why)
	}
	set := maps.Clone(a.set)
	for l, n := range b.set {
		set[l] += n
	}
	return element{kind: Written, scaled: a.scaled, set: set}
}

func scaleModel(a element, why int32) element {
	switch {
	case a.kind == Constant, a.kind == Written && a.scaled:
		return opaque(why)
	case a.kind == Written && len(a.set) > 0:
		a.scaled = true
	}
	return a
}

// model reads a Prov of an explaining hasher element by element.
func model(p Prov) []element {
	var es []element
	for i := range p.Len() {
		r := p.At(i)
		e := element{kind: r.Kind, scaled: r.Scaled, why: r.Why}
		var total int64
		for _, c := range r.Contributors() {
			if e.set == nil {
				e.set = map[[2]int64]int64{}
			}
			e.set[[2]int64{int64(c.Rank), c.Index}] += c.Count
			total += c.Count
		}
		if total != int64(r.Count) {
			panic(fmt.Sprintf("element %d: set of %d, count %d", i, total, r.Count))
		}
		es = append(es, e)
	}
	return es
}

// checkModel compares p with the model and its form with the canonical one.
func checkModel(t *rapid.T, what string, p Prov, want []element) {
	t.Helper()
	got := model(p)
	if !slices.EqualFunc(got, want, element.equal) {
		t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
	for i := range p {
		if p[i].N <= 0 {
			t.Fatalf("%s: run %d is empty", what, i)
		}
		if i > 0 && p[i-1].joins(&p[i]) {
			t.Fatalf("%s: runs %d and %d should be one", what, i-1, i)
		}
		if p[i].Count == 0 && p[i].Base != 0 {
			t.Fatalf("%s: run %d has a base but no label", what, i)
		}
	}
}

// vector draws a Prov of n elements out of random pieces.
func vector(t *rapid.T, h *Hasher, n int) Prov {
	var p Prov
	for left := n; left > 0; {
		k := rapid.IntRange(1, left).Draw(t, "n")
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			p = MakeUnwritten(p, k)
		case 1:
			p = MakeConstant(p, k)
		case 2:
			p = MakeNeutral(p, k)
		case 3:
			p = MakeOpaque(p, k, int32(rapid.IntRange(1, 3).Draw(t, "why")))
		default:
			p = h.Own(p, rapid.IntRange(0, 3).Draw(t, "rank"), int64(rapid.IntRange(0, 5).Draw(t, "base")), k)
		}
		left -= k
	}
	return p
}

func TestProvenanceAgainstMultisets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := NewHasher(rapid.Uint64().Draw(t, "seed"), true)
		n := rapid.IntRange(1, 12).Draw(t, "len")
		p := vector(t, h, n)
		want := model(p)
		for step := range 8 {
			why := int32(10 + step)
			switch rapid.SampledFrom([]string{"merge", "merge", "double", "overwrite", "overwrite", "slice", "concat",
				"replace", "scale", "obscure"}).Draw(t, "op") {
			case "merge":
				q := vector(t, h, n)
				mq := model(q)
				if rapid.Bool().Draw(t, "left") {
					p = h.Merge(nil, p, q, why)
				} else {
					p = h.Merge(nil, q, p, why)
				}
				for i := range want {
					want[i] = mergeModel(want[i], mq[i], why)
				}
			case "double":
				p = h.Merge(nil, p, p, why)
				for i := range want {
					want[i] = mergeModel(want[i], want[i], why)
				}
			case "overwrite":
				off := rapid.IntRange(0, n).Draw(t, "off")
				q := vector(t, h, rapid.IntRange(0, n-off).Draw(t, "m"))
				copy(want[off:], model(q))
				p = Overwrite(p, off, q)
			case "slice":
				off := rapid.IntRange(0, n-1).Draw(t, "off")
				m := rapid.IntRange(1, n-off).Draw(t, "m")
				p, want, n = Slice(nil, p, off, m), want[off:off+m], m
			case "concat":
				q := vector(t, h, rapid.IntRange(1, 4).Draw(t, "m"))
				want = append(slices.Clone(want), model(q)...)
				p, n = Concat(p, q), n+q.Len()
			case "replace":
				old, by := vector(t, h, n), vector(t, h, n)
				if off := rapid.IntRange(0, n-1).Draw(t, "off"); rapid.Bool().Draw(t, "as it is") {
					old = Overwrite(old, off, Slice(nil, p, off, n-off))
				}
				for i, e := range model(old) {
					if e.equal(want[i]) {
						want[i] = model(by)[i]
					}
				}
				p = Replace(nil, p, old, by)
			case "scale":
				p = Scale(nil, p, 4, why)
				for i := range want {
					want[i] = scaleModel(want[i], why)
				}
			case "obscure":
				off := rapid.IntRange(0, n-1).Draw(t, "off")
				p = Overwrite(p, off, Obscure(nil, Slice(nil, p, off, 1), why))
				if k := want[off].kind; k == Written || k == Constant {
					want[off] = opaque(why)
				}
			}
			checkModel(t, fmt.Sprint("step ", step), p, want)
		}
	})
}

// The hash alone must distinguish the multisets, without the explicit sets.
func TestHashAgreesWithSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := NewHasher(rapid.Uint64().Draw(t, "seed"), true)
		n := rapid.IntRange(1, 6).Draw(t, "len")
		build := func() Prov {
			p := vector(t, h, n)
			for range rapid.IntRange(0, 4).Draw(t, "merges") {
				p = h.Merge(nil, p, vector(t, h, n), 9)
			}
			return p
		}
		p, q := build(), build()
		same := slices.EqualFunc(model(p), model(q), element.equal)
		if Equal(p, q) != same {
			t.Fatalf("Equal = %v, sets equal = %v\np %v\nq %v", !same, same, model(p), model(q))
		}
	})
}

func TestMergeCommutesAndAssociates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := NewHasher(1, false)
		n := rapid.IntRange(1, 9).Draw(t, "len")
		a, b, c := vector(t, h, n), vector(t, h, n), vector(t, h, n)
		if x, y := h.Merge(nil, a, b, 1), h.Merge(nil, b, a, 1); !Equal(x, y) {
			t.Fatalf("a+b = %v, b+a = %v", x, y)
		}
		x := h.Merge(nil, h.Merge(nil, a, b, 1), c, 1)
		y := h.Merge(nil, a, h.Merge(nil, b, c, 1), 1)
		// Which of several operations is blamed may differ, that one is must not.
		if !Equal(blameless(x), blameless(y)) {
			t.Fatalf("(a+b)+c = %v, a+(b+c) = %v", x, y)
		}
	})
}

func blameless(p Prov) Prov {
	var q Prov
	for _, r := range p {
		r.Why = 0
		q = Append(q, r)
	}
	return q
}

func TestFarBasesMergeExactly(t *testing.T) {
	h := NewHasher(3, false)
	a := h.Own(nil, 0, 1<<40, 8)
	b := h.Own(nil, 1, 7, 8)
	c := h.Own(nil, 2, 1<<20, 8)
	x := h.Merge(nil, h.Merge(nil, a, b, 0), c, 0)
	y := h.Merge(nil, a, h.Merge(nil, c, b, 0), 0)
	if !Equal(x, y) || x[0].Base != 7 || x[0].Count != 3 {
		t.Fatalf("orders differ: %+v and %+v", x, y)
	}
	if z := h.Merge(nil, h.Merge(nil, h.Own(nil, 0, 1<<40+1, 8), b, 0), c, 0); Equal(x, z) {
		t.Fatal("an index that is off by one went unseen")
	}
}

func TestRunCountsStick(t *testing.T) {
	h := NewHasher(3, false)
	p := h.Own(nil, 0, 0, 1)
	for range 40 {
		p = h.Merge(nil, p, p, 0)
	}
	if p[0].Count != math.MaxInt32 {
		t.Errorf("count after 40 doublings = %d, want it to stick at the largest", p[0].Count)
	}
	if p[0].Depth != 40 {
		t.Errorf("depth after 40 doublings = %d, want 40", p[0].Depth)
	}
	p[0].Depth = DepthMany - 1
	p = h.Merge(nil, p, p, 0)
	p = h.Merge(nil, p, p, 0)
	if p[0].Depth != DepthMany {
		t.Errorf("depth = %d, want it to stick at %d", p[0].Depth, DepthMany)
	}
}

func TestLongVectorsSplit(t *testing.T) {
	h := NewHasher(3, false)
	const n = math.MaxInt32 + 10
	p := h.Own(nil, 5, 100, n)
	if p.Len() != n || len(p) != 2 || p[1].Base != 100+math.MaxInt32 || p[1].N != 10 {
		t.Fatalf("Own of 2^31+9 elements = %+v", p)
	}
	if q := Slice(nil, p, math.MaxInt32-5, 10); q.Len() != 10 || len(q) != 1 {
		t.Fatalf("slice over the seam = %+v", q)
	}
}

func TestExplainDoublingIsCheap(t *testing.T) {
	h := NewHasher(3, true)
	p := h.Own(nil, 2, 5, 1)
	for range 61 {
		p = h.Merge(nil, p, p, 0)
	}
	want := []Contributor{{Rank: 2, Index: 5, Count: 1 << 61}}
	if got := p[0].Contributors(); !slices.Equal(got, want) {
		t.Errorf("contributors = %v, want %v", got, want)
	}
}

func TestMergeOfUnequalLengthsPanics(t *testing.T) {
	h := NewHasher(3, false)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	h.Merge(nil, h.Own(nil, 0, 0, 3), h.Own(nil, 0, 0, 4), 0)
}

func TestKindNames(t *testing.T) {
	for k, want := range map[Kind]string{Unwritten: "unwritten", Written: "written", Constant: "constant", Opaque: "opaque"} {
		if k.String() != want {
			t.Errorf("Kind %d = %q, want %q", k, k, want)
		}
	}
}

func ExampleHasher_Merge() {
	h := NewHasher(1, true)
	acc := h.Own(nil, 0, 0, 4)         // rank 0's own input
	got := h.Own(nil, 1, 0, 4)         // what came from rank 1
	acc = h.Merge(nil, acc, got, 17)   // the addition, operation 17
	acc = Overwrite(acc, 3, got[:0:0]) // nothing to write: no change
	fmt.Println(len(acc), "run of", acc[0].N, "elements with", acc[0].Count, "contributors:")
	fmt.Println(acc[0].Contributors())
	// Output:
	// 1 run of 4 elements with 2 contributors:
	// [{0 0 1} {1 0 1}]
}

// A union along an axis is the union of all elements of the axis, and a matrix transposed twice is
// unchanged.
func TestMergeAxisAndTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := NewHasher(1, true)
		outer, axis, inner := rapid.IntRange(0, 3).Draw(t, "outer"), rapid.IntRange(1, 4).Draw(t, "axis"),
			rapid.IntRange(0, 4).Draw(t, "inner")
		var p Prov
		for p.Len() < outer*axis*inner {
			n := rapid.IntRange(1, outer*axis*inner-p.Len()).Draw(t, "n")
			rank, base := rapid.IntRange(0, 2).Draw(t, "rank"), rapid.Int64Range(0, 3).Draw(t, "base")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				p = MakeNeutral(p, n)
			case 1:
				p = MakeConstant(p, n)
			default:
				p = Concat(p, h.Own(nil, rank, base, n))
			}
		}
		got := h.MergeAxis(nil, p, outer, axis, inner, 5)
		if got.Len() != outer*inner {
			t.Fatalf("%d elements, want %d", got.Len(), outer*inner)
		}
		for i := range outer * inner {
			at := func(k int) Prov { return Slice(nil, p, (i/inner*axis+k)*inner+i%inner, 1) }
			want := at(0)
			for k := 1; k < axis; k++ {
				want = h.Merge(nil, want, at(k), 5)
			}
			if run := got.At(i); !run.Same(&want[0]) || !slices.Equal(run.Contributors(), want[0].Contributors()) {
				t.Fatalf("element %d is %+v, want %+v", i, run, want[0])
			}
		}
		turned := Transpose(nil, p, outer*axis, inner)
		for i := range p.Len() {
			if a, b := p.At(i), turned.At(i%inner*outer*axis+i/inner); !a.Same(&b) {
				t.Fatalf("element %d turns into %+v from %+v", i, b, a)
			}
		}
		if back := Transpose(nil, turned, inner, outer*axis); !Equal(back, p) {
			t.Fatalf("turned twice: %v, want %v", back, p)
		}
	})
}
