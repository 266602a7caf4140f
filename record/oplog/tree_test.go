package oplog_test

import (
	"math"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// contribute makes n ranks bring one element each, and begins their sum.
func (b *bench) contribute(t *testing.T, typ dtype.Type, n int, value func(rank int) float64) []tl.Ref {
	t.Helper()
	var all []tl.Ref
	for r := range n {
		x := b.put(t, r, typ, value(r))
		b.own(t, r, x)
		all = append(all, x)
	}
	b.Begin(tl.Sum, n)
	return all
}

func (b *bench) serially(all []tl.Ref) tl.Tensor {
	acc := b.c.Load(all[0])
	for _, x := range all[1:] {
		acc = b.c.Add(acc, b.c.Load(x))
	}
	return acc
}

func (b *bench) balanced(all []tl.Ref) tl.Tensor {
	if len(all) == 1 {
		return b.c.Load(all[0])
	}
	return b.c.Add(b.balanced(all[:len(all)/2]), b.balanced(all[len(all)/2:]))
}

// What is known of sums of ones and of ranks: where they end, how high their trees are, and how
// many additions change nothing.
func TestTrees(t *testing.T) {
	one := func(int) float64 { return 1 }
	for _, tt := range []struct {
		name    string
		typ     dtype.Type
		n       int
		value   func(int) float64
		sum     func(b *bench, all []tl.Ref) tl.Tensor
		want    float64
		height  uint32
		stalled int64
	}{
		{"ones in bf16, serially", dtype.BF16, 300, one, (*bench).serially, 256, 299, 300 - 256},
		{"ones in f16, serially", dtype.F16, 2100, one, (*bench).serially, 2048, 2099, 2100 - 2048},
		{"ones in bf16, balanced", dtype.BF16, 512, one, (*bench).balanced, 512, 9, 0},
		{"ones in f32, serially", dtype.F32, 512, one, (*bench).serially, 512, 511, 0},
		{"zeros", dtype.BF16, 8, func(int) float64 { return 0 }, (*bench).serially, 0, 7, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			both(t, oplog.Options{Audit: true}, func(t *testing.T, b *bench) {
				out := tt.sum(b, b.contribute(t, tt.typ, tt.n, tt.value))
				got, a := b.tree(t, out)
				if got.value != tt.want {
					t.Errorf("sum %v, want %v", got.value, tt.want)
				}
				u := uint64(dtype.Epsilon(tt.typ) * 0x1p53)
				if want := (oplog.Tree{Terms: uint32(tt.n), Height: tt.height, Growth: uint64(tt.height) * u}); got.Tree != want {
					t.Errorf("tree %+v, want %+v", got.Tree, want)
				}
				if a.Additions != int64(tt.n-1) || a.Stalled != tt.stalled ||
					(a.FirstStalled != nil) != (tt.stalled > 0) || a.Overflow != nil {
					t.Errorf("%+v, want %d additions of which %d stall", a, tt.n-1, tt.stalled)
				}
			})
		})
	}
}

type grown struct {
	oplog.Tree
	value float64
}

// tree stores a single element, and returns its tree.
func (b *bench) tree(t *testing.T, out tl.Tensor) (grown, oplog.Audit) {
	t.Helper()
	at := b.put(t, 9000, out.DType(), 0)
	b.c.Store(at, out)
	trees, err := b.Trees(at.Addr, at.DType, at.Len())
	if err != nil {
		t.Fatal(err)
	}
	return grown{trees[0], b.get(t, at)[0]}, b.Audit()
}

// The first operation that overflows is reported with its place, and not those that continue with
// infinities.
func TestTreesOverflow(t *testing.T) {
	both(t, oplog.Options{Audit: true}, func(t *testing.T, b *bench) {
		all := b.contribute(t, dtype.F16, 362, func(r int) float64 { return float64(r + 1) })
		got, a := b.tree(t, b.serially(all))
		if !math.IsInf(got.value, 1) {
			t.Errorf("1 + ... + 362 is %v in f16", got.value)
		}
		if a.Overflow == nil || a.Overflow.Place.String() != "rank 3 add at lib/kernel.go:5" || a.Overflow.Element != 0 {
			t.Errorf("overflow %+v", a.Overflow)
		}
		if err := b.Unmap(at(9000)); err != nil {
			t.Fatal(err)
		}
		wide, a := b.tree(t, b.c.Convert(b.c.Convert(b.c.Load(all[361]), dtype.F32), dtype.F16))
		if wide.Tree != (oplog.Tree{Terms: 1, Height: 1, Growth: 1 << 42}) {
			t.Errorf("widened and rounded: %+v", wide.Tree)
		}
		if a.Overflow == nil || a.Overflow.Place.Op != "add" {
			t.Errorf("the first overflow does not stay: %+v", a.Overflow)
		}
	})
}

// A number that becomes too large when it is narrowed overflows there.
func TestTreesOverflowOfConversion(t *testing.T) {
	b := newBench(t, oplog.Options{Audit: true, Inline: true})
	x := b.put(t, 0, dtype.F32, 1, 70000)
	narrow := b.c.Convert(b.c.Load(x), dtype.F16)
	_, a := b.tree(t, narrow.Slice(1, 1))
	if a.Overflow == nil || a.Overflow.Place.Op != "convert" || a.Overflow.Element != 1 {
		t.Errorf("overflow %+v", a.Overflow)
	}
}

// Additions in memory, onto zeros, of slices and of loads in pieces keep trees too; what is made of
// contributions by another method has none.
func TestTreesThroughMemory(t *testing.T) {
	b := newBench(t, oplog.Options{Audit: true, Inline: true})
	x, y, zeros := b.put(t, 0, dtype.F32, 1, 2, 3, 4), b.put(t, 1, dtype.F32, 5, 6, 7, 8), b.put(t, 2, dtype.F32, 0, 0)
	b.own(t, 0, x)
	b.own(t, 1, y)
	b.Begin(tl.Sum, 2)
	b.combine(zeros.Addr, x.Addr, 2, dtype.F32, dtype.Add)
	b.check(t, zeros, oplog.Tree{Terms: 1}, oplog.Tree{Terms: 1})
	b.combine(zeros.Addr, y.Addr+4, 1, dtype.F32, dtype.Add)
	b.check(t, zeros, oplog.Tree{Terms: 2, Height: 1, Growth: 1 << 29}, oplog.Tree{Terms: 1})

	v := b.NewValue() // the sum first, then two of rank 1
	b.Load(b.origin, v, 0, 1, 3, dtype.F32, zeros.Addr)
	b.Load(b.origin, v, 1, 2, 3, dtype.F32, y.Addr)
	b.Store(b.origin, x.Addr+mem.Addr(4), v, 0, 3, dtype.F32)
	sum := oplog.Tree{Terms: 2, Height: 1, Growth: 1 << 29}
	b.check(t, x, oplog.Tree{Terms: 1}, sum, oplog.Tree{Terms: 1}, oplog.Tree{Terms: 1})

	b.c.Store(x.Slice(0, 2), b.c.Exp(b.c.Load(x.Slice(0, 2))))
	b.c.Store(x.Slice(2, 2), b.c.Maximum(b.c.Load(x.Slice(1, 2)), b.c.Load(x.Slice(2, 2))))
	b.check(t, x, oplog.Tree{}, oplog.Tree{}, oplog.Tree{Terms: 1}, oplog.Tree{Terms: 2})
	if err := b.Write(x.Addr, dtype.F32, make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	b.check(t, x, oplog.Tree{}, oplog.Tree{}, oplog.Tree{}, oplog.Tree{})
}

func (b *bench) check(t *testing.T, at tl.Ref, want ...oplog.Tree) {
	t.Helper()
	got, err := b.Trees(at.Addr, at.DType, at.Len())
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("element %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

// A sum along an axis has the contributions of the whole axis; it is rounded to its type once.
func TestTreesAlongAnAxis(t *testing.T) {
	for _, tt := range []struct {
		typ    dtype.Type
		height uint32
		growth uint64 // in units of the roundoff of f64
	}{
		{dtype.F64, 2, 2}, {dtype.F32, 3, 2 + 1<<29}, {dtype.BF16, 3, 2<<29 + 1<<45}, {dtype.I32, 0, 0},
	} {
		both(t, oplog.Options{Audit: true}, func(t *testing.T, b *bench) {
			x := b.put(t, 0, tt.typ, 1, 2, 3, 4, 5, 6)
			b.own(t, 0, x)
			b.Begin(tl.Sum, 3)
			rows := b.c.Transpose(b.c.Load(x).Reshape(2, 3))
			want := oplog.Tree{Terms: 3, Height: tt.height, Growth: tt.growth}
			if got, _ := b.tree(t, b.c.Sum(rows, 0).Slice(0, 1)); got.Tree != want || got.value != 6 {
				t.Errorf("%v: tree %+v of %v, want %+v", tt.typ, got.Tree, got.value, want)
			}
		})
	}
}
