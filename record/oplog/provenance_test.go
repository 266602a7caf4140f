package oplog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// own labels memory i as rank i's contribution.
func (b *bench) own(t *testing.T, i int, r tl.Ref) {
	t.Helper()
	if err := b.Label(i, 0, r.Addr, r.DType, r.Len()); err != nil {
		t.Fatal(err)
	}
}

// The effect of each operation on provenance.
func TestProvenance(t *testing.T) {
	tests := []struct {
		name string
		op   tl.ReduceOp
		f    func(c *tl.Context, x, y tl.Tensor) tl.Tensor
		kind collective.Kind
		from []collective.Contributor // of element 1
		why  string
	}{
		{name: "itself", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return x },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}}},
		{name: "sum", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Add(x, y) },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 1, Index: 1, Count: 1}}},
		{name: "twice", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Add(x, x) },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 2}}},
		{name: "prod", op: tl.Prod, f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Mul(x, y) },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 1, Index: 1, Count: 1}}},
		{name: "max", op: tl.Max, f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Maximum(x, y) },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 1, Index: 1, Count: 1}}},
		{name: "sum along an axis", f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Sum(x.Reshape(2, 2), 0)
		}, from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 0, Index: 3, Count: 1}}},
		{name: "sum along the last axis", f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Sum(x.Reshape(2, 2), -1)
		}, from: []collective.Contributor{{Rank: 0, Index: 2, Count: 1}, {Rank: 0, Index: 3, Count: 1}}},
		{name: "sum of an average", op: tl.Avg, f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor {
			return c.Finish(tl.Avg, c.Sum(x.Reshape(2, 2), 0), 2)
		}, from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 0, Index: 3, Count: 1}}},
		{name: "prod along an axis", op: tl.Prod,
			f:    func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Prod(x.Reshape(2, 2), 0) },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 0, Index: 3, Count: 1}}},
		{name: "max along an axis", op: tl.Max,
			f:    func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Max(x.Reshape(2, 2), 0) },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 0, Index: 3, Count: 1}}},
		{name: "min along an axis", op: tl.Min,
			f:    func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Min(x.Reshape(2, 2), 0) },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 0, Index: 3, Count: 1}}},
		{name: "max along an axis in a sum", f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Max(x.Reshape(2, 2), 0)
		}, kind: collective.Opaque, why: "rank 3 (pe7) max at lib/kernel.go:5"},
		{name: "sum along an axis in a max", op: tl.Max,
			f:    func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Sum(x.Reshape(2, 2), 0) },
			kind: collective.Opaque, why: "sum at lib/kernel.go:5"},
		{name: "prod along an axis in a sum",
			f:    func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Prod(x.Reshape(2, 2), 0) },
			kind: collective.Opaque, why: "prod at lib/kernel.go:5"},
		{name: "a maximum in a sum", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Maximum(x, y) },
			kind: collective.Opaque, why: "maximum at lib/kernel.go:5"},
		{name: "transposed", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Transpose(x.Reshape(2, 2)) },
			from: []collective.Contributor{{Rank: 0, Index: 2, Count: 1}}},
		{name: "shifted", f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Add(x.Slice(0, 3), y.Slice(1, 3))
		}, from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 1, Index: 2, Count: 1}}},
		{name: "converted", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor {
			return c.Convert(c.Add(c.Convert(x, dtype.F64), c.Convert(y, dtype.F64)), dtype.F32)
		}, from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 1, Index: 1, Count: 1}}},
		{name: "average", op: tl.Avg, f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Finish(tl.Avg, c.Add(x, y), 2)
		}, from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 1, Index: 1, Count: 1}}},
		{name: "average by its reciprocal", op: tl.Avg,
			f:    func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Scale(dtype.Mul, c.Add(x, y), .5) },
			from: []collective.Contributor{{Rank: 0, Index: 1, Count: 1}, {Rank: 1, Index: 1, Count: 1}}},
		{name: "averaged twice", op: tl.Avg, f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor {
			return c.Finish(tl.Avg, c.Finish(tl.Avg, x, 2), 2)
		}, kind: collective.Opaque, why: "rank 3 (pe7) scale (div) at lib/kernel.go:5"},
		{name: "scaled", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Scale(dtype.Mul, x, 2) },
			kind: collective.Opaque, why: "scale (mul) at lib/kernel.go:5"},
		{name: "another operation", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Mul(x, y) },
			kind: collective.Opaque, why: "mul at lib/kernel.go:5"},
		{name: "a sum in a max", op: tl.Max, f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Add(x, y) },
			kind: collective.Opaque, why: "add at"},
		{name: "one element against many", f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Add(x, y.Slice(0, 1))
		}, kind: collective.Opaque, why: "add at"},
		{name: "a number", f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Full(x.Shape(), x.DType(), 7)
		}, kind: collective.Constant},
		{name: "plus a number", f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Add(x, c.Full(x.Shape(), x.DType(), 7))
		}, kind: collective.Opaque, why: "add at"},
		{name: "negated", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Neg(x) }, kind: collective.Opaque, why: "neg at"},
		{name: "dot", f: func(c *tl.Context, x,
			y tl.Tensor) tl.Tensor {
			return c.Dot(x.Reshape(2, 2), y.Reshape(2, 2))
		}, kind: collective.Opaque, why: "dot at"},
		{name: "the first cause stays", f: func(c *tl.Context, x, y tl.Tensor) tl.Tensor { return c.Abs(c.Neg(x)) },
			kind: collective.Opaque, why: "neg at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, oplog.Options{Inline: true, Explain: true, PEName: func(pe int) string { return fmt.Sprintf("pe%d", pe) }})
			x, y := b.put(t, 0, dtype.F32, 1, 2, 3, 4), b.put(t, 1, dtype.F32, 5, 6, 7, 8)
			b.own(t, 0, x)
			b.own(t, 1, y)
			b.Begin(tt.op, 2)
			r := tt.f(b.c, b.c.Load(x), b.c.Load(y))
			b.c.Store(x.Slice(0, r.Len()), r)
			b.End()
			_, prov, err := b.View(x.Addr, x.DType, x.Len())
			if err != nil {
				t.Fatal(err)
			}
			run := prov.At(1)
			want := tt.kind
			if tt.from != nil {
				want = collective.Written
			}
			if run.Kind != want || !slices.Equal(run.Contributors(), tt.from) {
				t.Fatalf("%v from %v, want %v from %v", run.Kind, run.Contributors(), want, tt.from)
			}
			if why := b.Why(run.Why); run.Kind == collective.Opaque && !strings.Contains(why, tt.why) {
				t.Errorf("made so by %q, want %q", why, tt.why)
			}
		})
	}
}

// Outside a collective nothing merges, and without explain mode a cause is the operation.
func TestProvenanceOutsideCollectives(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true})
	x := b.put(t, 0, dtype.F32, 1, 2)
	b.own(t, 0, x)
	b.c.Store(x, b.c.Add(b.c.Load(x), b.c.Load(x)))
	_, prov, err := b.View(x.Addr, x.DType, 2)
	if err != nil || prov[0].Kind != collective.Opaque || b.Why(prov[0].Why) != "add" {
		t.Errorf("%v, %v: %q", prov, err, b.Why(prov[0].Why))
	}
}
