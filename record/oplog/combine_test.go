package oplog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/fault"
	_ "kernbench/internal/fixedseed"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"

	"pgregory.net/rapid"
)

var putter = oplog.Origin{Rank: 3, PE: 7, Line: "lib/kernel.go:9", Call: "put_combine"}

// combine updates n elements at a with those that lie at from.
func (b *bench) combine(a, from mem.Addr, n int, t dtype.Type, by dtype.BinaryOp) {
	v := b.NewValue()
	b.Load(putter, v, 0, n, n, t, from)
	b.Combine(putter, a, v, 0, n, t, by)
	b.Release(v)
}

func TestCombine(t *testing.T) {
	from := func(ranks ...int) (c []collective.Contributor) {
		for _, r := range ranks {
			c = append(c, collective.Contributor{Rank: r, Index: 1, Count: 1})
		}
		return c
	}
	const rank0, number, zeros = 0, 1, 2 // what lies there before
	tests := []struct {
		name  string
		op    tl.ReduceOp
		there int
		by    dtype.BinaryOp
		free  bool // outside a collective
		want  []float64
		kind  collective.Kind
		from  []collective.Contributor // of element 1
	}{
		{name: "the collective's own", there: rank0, by: dtype.Add, want: []float64{6, 8}, kind: collective.Written, from: from(0, 1)},
		{name: "maximum", op: tl.Max, there: rank0, by: dtype.Max, want: []float64{5, 6}, kind: collective.Written, from: from(0, 1)},
		{name: "another operation", there: rank0, by: dtype.Mul, want: []float64{5, 12}, kind: collective.Opaque},
		{name: "outside a collective", there: rank0, by: dtype.Add, free: true, want: []float64{6, 8}, kind: collective.Opaque},
		{name: "onto a number", there: number, by: dtype.Add, want: []float64{8, 9}, kind: collective.Opaque},
		{name: "onto zeros", there: zeros, by: dtype.Add, want: []float64{5, 6}, kind: collective.Written, from: from(1)},
		{name: "the greater of zeros", op: tl.Max, there: zeros, by: dtype.Max, want: []float64{5, 6}, kind: collective.Opaque},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both(t, oplog.Options{Explain: true}, func(t *testing.T, b *bench) {
				x := b.put(t, 0, dtype.F32, [][]float64{{1, 2}, {3, 3}, {0, 0}}[tt.there]...)
				y := b.put(t, 1, dtype.F32, 5, 6)
				if tt.there == rank0 {
					b.own(t, 0, x)
				}
				b.own(t, 1, y)
				if !tt.free {
					b.Begin(tt.op, 2)
				}
				b.combine(x.Addr, y.Addr, 2, dtype.F32, tt.by)
				if got := b.get(t, x); !slices.Equal(got, tt.want) {
					t.Errorf("memory holds %v, want %v", got, tt.want)
				}
				_, prov, err := b.View(x.Addr, x.DType, 2)
				if err != nil {
					t.Fatal(err)
				}
				run := prov.At(1)
				if run.Kind != tt.kind || !slices.Equal(run.Contributors(), tt.from) {
					t.Errorf("%v from %v, want %v from %v", run.Kind, run.Contributors(), tt.kind, tt.from)
				}
				if why := b.Why(run.Why); run.Kind == collective.Opaque && why != "rank 3 put_combine at lib/kernel.go:9" {
					t.Errorf("made so by %q", why)
				}
			})
		})
	}
}

// Only those elements of prepared memory that the operation does not notice are neutral.
func TestCombineOntoSomeZeros(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true})
	x, y := b.put(t, 0, dtype.I32, 0, 7, 0), b.put(t, 1, dtype.I32, 1, 1, 1)
	b.own(t, 1, y)
	b.Begin(tl.Sum, 2)
	b.combine(x.Addr, y.Addr, 3, dtype.I32, dtype.Add)
	_, prov, err := b.View(x.Addr, x.DType, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []collective.Kind{collective.Written, collective.Opaque, collective.Written} {
		if got := prov.At(i).Kind; got != want {
			t.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
}

// Zeros that were loaded from memory are an empty accumulator of a sum, as those of Full are. They
// may be on either side of an addition, or among the rows of a sum. Other numbers are not empty.
func TestArithmeticOnSomeZeros(t *testing.T) {
	for name, sum := range map[string]func(c *tl.Context, rows tl.Tensor) tl.Tensor{
		"added on the left":  func(c *tl.Context, rows tl.Tensor) tl.Tensor { return c.Add(rows.Slice(0, 3), rows.Slice(3, 3)) },
		"added on the right": func(c *tl.Context, rows tl.Tensor) tl.Tensor { return c.Add(rows.Slice(3, 3), rows.Slice(0, 3)) },
		"rows":               func(c *tl.Context, rows tl.Tensor) tl.Tensor { return c.Sum(rows.Reshape(2, 3), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			both(t, oplog.Options{Explain: true}, func(t *testing.T, b *bench) {
				rows, out := b.put(t, 0, dtype.I32, 0, 7, 0, 1, 1, 1), b.put(t, 1, dtype.I32, 9, 9, 9)
				b.own(t, 1, rows.Slice(3, 3))
				b.Begin(tl.Sum, 2)
				b.c.Store(out, sum(b.c, b.c.Load(rows)))
				_, prov, err := b.View(out.Addr, out.DType, 3)
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range []collective.Kind{collective.Written, collective.Opaque, collective.Written} {
					if run := prov.At(i); run.Kind != want || want == collective.Written && len(run.Contributors()) != 1 {
						t.Errorf("element %d is %v from %v, want %v", i, run.Kind, run.Contributors(), want)
					}
				}
			})
		})
	}
}

func TestCombineFaults(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true})
	if err := b.Map(at(0), dtype.F32, 2); err != nil {
		t.Fatal(err)
	}
	y := b.put(t, 1, dtype.F32, 1, 1)
	b.combine(at(0), y.Addr, 2, dtype.F32, dtype.Add)
	var u *fault.Unwritten
	if err := b.Flush(); !errors.As(err, &u) || u.First != 0 || u.Op != "put_combine" {
		t.Errorf("onto memory that was never written: %v", err)
	}
	b = newBench(t, oplog.Options{Inline: true})
	y = b.put(t, 1, dtype.F32, 1, 1)
	b.combine(at(0), y.Addr, 2, dtype.F32, dtype.Add)
	var bad *fault.BadAddress
	if err := b.Flush(); !errors.As(err, &bad) || !strings.Contains(err.Error(), "put_combine at lib/kernel.go:9") {
		t.Errorf("onto no memory: %v", err)
	}
}

// An infinity that an update makes is reported like one of arithmetic.
func TestCombineOverflows(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true, Explain: true})
	x, y := b.put(t, 0, dtype.F16, 60000), b.put(t, 1, dtype.F16, 60000)
	b.combine(x.Addr, y.Addr, 1, dtype.F16, dtype.Add)
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := b.Overflow(0); !strings.Contains(got, "put_combine at lib/kernel.go:9 makes +Inf of 60000 and 60000 in f16, element 0") {
		t.Errorf("overflow: %q", got)
	}
}

// Updates of ranges of memory have the same result as the same updates of an array.
func TestCombineAgainstArrays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 12
		b := newBench(t, oplog.Options{Inline: rapid.Bool().Draw(t, "inline")})
		want, more := make([]float64, n), make([]float64, n)
		for i := range n {
			want[i] = float64(rapid.IntRange(-9, 9).Draw(t, "there"))
			more[i] = float64(rapid.IntRange(-9, 9).Draw(t, "value"))
		}
		x, y := b.put(t, 0, dtype.I32, want...), b.put(t, 1, dtype.I32, more...)
		for range rapid.IntRange(1, 5).Draw(t, "updates") {
			lo := rapid.IntRange(0, n-1).Draw(t, "lo")
			k := rapid.IntRange(1, n-lo).Draw(t, "n")
			from := rapid.IntRange(0, n-k).Draw(t, "from")
			max := rapid.Bool().Draw(t, "max")
			by := dtype.Add
			if max {
				by = dtype.Max
			}
			v := b.NewValue()
			b.Load(putter, v, 0, n, n, dtype.I32, y.Addr)
			b.Combine(putter, x.Addr+mem.Addr(4*lo), v, int32(from), k, dtype.I32, by)
			b.Release(v)
			for i := range k {
				if !max {
					want[lo+i] += more[from+i]
				} else if more[from+i] > want[lo+i] {
					want[lo+i] = more[from+i]
				}
			}
		}
		if got := b.get(t, x); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
