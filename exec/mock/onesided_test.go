package mock_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// layout returns a window layout of n elements of data, and three buffers of control words, one of
// each type.
func layout(t testing.TB, n, words int) *mem.Layout {
	t.Helper()
	l, err := mem.NewLayout(0, []mem.Buffer{
		{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F32, n)}},
		{Name: "flags", Parts: []mem.Part{mem.SignalPart("", mem.Int64, words)}},
		{Name: "small", Parts: []mem.Part{mem.SignalPart("", mem.Int32, words)}},
		{Name: "big", Parts: []mem.Part{mem.SignalPart("", mem.Uint64, words)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// kernelEnv holds what the kernels of the tests below use.
type kernelEnv struct {
	*tl.Context
	mine       tl.Ref // its shard of four elements: 1 2 3 4, times 10 for each rank
	data       tl.Sym // of four elements
	flag       tl.Signal
	next, prev int
}

// storeValues stores numbers into the rank's shard, from the first element on.
func (k *kernelEnv) storeValues(v ...int64) {
	for i, x := range v {
		k.Store(k.mine.Slice(i, 1), k.Full(tl.Dims(1), k.mine.DType, float64(x)))
	}
}

// oneSided runs a kernel on three ranks, in order and under many schedules.
func oneSided(t *testing.T, cfg kerneltest.Config, seeds int, kernel func(k *kernelEnv), want ...[]float64) {
	t.Helper()
	for seed := range seeds {
		cfg.Seed, cfg.Layout = uint64(seed), layout(t, 4, 4)
		got := each(t, cfg, func(c *tl.Context, a tl.Args) {
			w, n := a.Window(0), c.WorldSize()
			kernel(&kernelEnv{
				Context: c, mine: a.Shard(c.Rank()), data: c.Data(w, "data"), flag: c.Signals(w, "flags").At(0),
				next: (c.Rank() + 1) % n, prev: (c.Rank() + n - 1) % n,
			})
		})
		wantShards(t, got, want...)
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// Programs without races have the same result under every schedule.
func TestOneSided(t *testing.T) {
	const seeds = 60
	sumWithLeft := [][]float64{{101, 202, 303, 404}, {11, 22, 33, 44}, {110, 220, 330, 440}}
	tests := []struct {
		name   string
		kernel func(k *kernelEnv)
		want   [][]float64
	}{
		{"put, fence, notify", func(k *kernelEnv) {
			k.Put(k.data, k.next, k.mine)
			k.Fence()
			k.Notify(k.flag, k.next, tl.SignalSet, 1)
			k.WaitUntil(k.flag, tl.EQ, 1)
			k.Store(k.mine, k.Add(k.Load(k.mine), k.Load(k.Local(k.data))))
		}, sumWithLeft},
		{"a put carries its source as it was", func(k *kernelEnv) {
			k.PutSignal(k.data, k.next, k.mine, k.flag, tl.SignalAdd, 1)
			before := k.Load(k.mine)
			k.Store(k.mine, k.Full(k.mine.Shape, k.mine.DType, -1))
			k.WaitUntil(k.flag, tl.GE, 1)
			k.Store(k.mine, k.Add(before, k.Load(k.Local(k.data))))
		}, sumWithLeft},
		{"put of a tensor", func(k *kernelEnv) {
			x := k.Load(k.mine)
			k.PutTensorSignal(k.data, k.next, x, k.flag, tl.SignalSet, 7)
			k.WaitUntil(k.flag, tl.EQ, 7)
			k.Store(k.mine, k.Add(x, k.Load(k.Local(k.data))))
		}, sumWithLeft},
		{"nbi, quiet, notify", func(k *kernelEnv) {
			k.PutNBI(k.data, k.next, k.mine)
			k.Quiet()
			k.Notify(k.flag, k.next, tl.SignalSet, 1)
			k.WaitUntil(k.flag, tl.NE, 0)
			k.Store(k.mine, k.Add(k.Load(k.mine), k.Load(k.Local(k.data))))
		}, sumWithLeft},
		{"nbi with signal", func(k *kernelEnv) {
			k.PutSignalNBI(k.data, k.next, k.mine, k.flag, tl.SignalSet, 1)
			k.WaitUntil(k.flag, tl.EQ, 1)
			k.Quiet()
			k.Store(k.mine, k.Add(k.Load(k.mine), k.Load(k.Local(k.data))))
		}, sumWithLeft},
		{"store to a neighbour, pipe barrier, notify", func(k *kernelEnv) {
			k.Store(k.At(k.data, k.next), k.Load(k.mine))
			k.PipeBarrier()
			k.Notify(k.flag, k.next, tl.SignalSet, 1)
			k.WaitUntil(k.flag, tl.EQ, 1)
			k.Store(k.mine, k.Add(k.Load(k.mine), k.Load(k.Local(k.data))))
		}, sumWithLeft},
		{"get", func(k *kernelEnv) {
			k.Store(k.Local(k.data), k.Load(k.mine))
			k.PipeBarrier()
			k.Notify(k.flag, k.next, tl.SignalSet, 1)
			k.WaitUntil(k.flag, tl.EQ, 1)
			own := k.Load(k.mine)
			k.Get(k.mine, k.data, k.prev)
			k.Store(k.mine, k.Add(own, k.Load(k.mine)))
		}, sumWithLeft},
		{"get_nbi", func(k *kernelEnv) {
			k.Store(k.Local(k.data), k.Load(k.mine))
			k.PipeBarrier()
			k.Notify(k.flag, k.next, tl.SignalSet, 1)
			k.WaitUntil(k.flag, tl.EQ, 1)
			own := k.Load(k.mine)
			k.GetNBI(k.mine, k.data, k.prev)
			k.Quiet()
			k.Store(k.mine, k.Add(own, k.Load(k.mine)))
		}, sumWithLeft},
		{"the end of a kernel completes its puts and gets", func(k *kernelEnv) {
			k.Put(k.data, k.Rank(), k.mine)
			k.Quiet()
			k.GetNBI(k.mine.Slice(0, 2), k.data.Slice(2, 2), k.Rank())
			k.PutNBI(k.data.Slice(0, 1), k.Rank(), k.mine.Slice(2, 1))
		}, [][]float64{{3, 4, 3, 4}, {30, 40, 30, 40}, {300, 400, 300, 400}}},
		{"updates of all to one", func(k *kernelEnv) {
			k.PutCombine(k.data, 0, k.mine, tl.Sum)
			k.PutTensorCombine(k.data.Slice(0, 1), 0, k.Load(k.mine.Slice(3, 1)), tl.Max)
			k.Fence()
			k.Notify(k.flag, 0, tl.SignalAdd, 1)
			if k.Rank() == 0 {
				k.WaitUntil(k.flag, tl.EQ, 3)
				k.Store(k.mine.Slice(1, 3), k.Load(k.Local(k.data.Slice(1, 3))))
			}
		}, [][]float64{{1, 222, 333, 444}}},
		{"a signal without data", func(k *kernelEnv) {
			k.PutSignal(k.data.Slice(0, 0), k.next, k.mine.Slice(0, 0), k.flag, tl.SignalSet, 5)
			k.WaitUntil(k.flag, tl.EQ, 5)
			k.storeValues(k.LoadScalar(k.flag))
		}, [][]float64{{5, 2, 3, 4}, {5, 20, 30, 40}, {5, 200, 300, 400}}},
		{"tiles", func(k *kernelEnv) {
			d := k.Desc(k.mine, 2, 2, 2, 1) // columns
			k.StoreTile(d, 0, 0, k.LoadTile(d, 0, 1))
		}, [][]float64{{2, 2, 4, 4}, {20, 20, 40, 40}, {200, 200, 400, 400}}},
		{"fetch_add counts each", func(k *kernelEnv) {
			k.FetchAdd(k.flag, 0, 1)
			k.FetchAdd(k.flag, 0, 10)
			if k.Rank() == 0 {
				k.WaitUntil(k.flag, tl.GE, 33)
				k.storeValues(k.FetchAdd(k.flag, 0, -33), k.LoadScalar(k.flag))
			}
		}, [][]float64{{33, 0, 3, 4}}},
		{"compare_swap", func(k *kernelEnv) {
			if k.Rank() != 0 {
				return
			}
			f := k.flag.At(2)
			failed := k.CompareSwap(f, 1, 5, 6)
			swapped := k.CompareSwap(f, 1, 0, 7)
			k.storeValues(failed, swapped, k.FetchAdd(f, 1, 0))
		}, [][]float64{{0, 0, 7, 4}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { oneSided(t, kerneltest.Config{}, seeds, tt.kernel, tt.want...) })
	}
}

// A put_nbi may read its source before or after the source is overwritten. Among the schedules are
// both orders.
func TestSourceOfPutNBIOverwritten(t *testing.T) {
	seen := map[float64]bool{}
	for seed := range uint64(200) {
		got := each(t, kerneltest.Config{Layout: layout(t, 4, 1), Seed: seed}, func(c *tl.Context, a tl.Args) {
			w, mine := a.Window(0), a.Shard(c.Rank())
			data, flag := c.Data(w, "data"), c.Signals(w, "flags").At(0)
			if c.Rank() == 0 {
				c.PutNBI(data, 1, mine)
				c.Store(mine, c.Full(mine.Shape, mine.DType, -1)) // the source is not free
				c.Quiet()
				c.Notify(flag, 1, tl.SignalSet, 1)
			}
			if c.Rank() == 1 {
				c.WaitUntil(flag, tl.EQ, 1)
				c.Store(mine, c.Load(c.Local(data)))
			}
		})
		seen[got[1][0]] = true
	}
	if !seen[1] || !seen[-1] || len(seen) != 2 {
		t.Errorf("the source of a put_nbi was read as %v, want 1 and -1, depending on the schedule", seen)
	}
}

// Data that pass through a window keep their provenance.
func TestOneSidedProvenance(t *testing.T) {
	for seed := range uint64(20) {
		o, err := kerneltest.Observe(t.Context(), func(c *tl.Context, a tl.Args) {
			w, mine := a.Window(0), a.Shard(c.Rank())
			data, flag := c.Data(w, "data"), c.Signals(w, "flags").At(0)
			for r := range c.WorldSize() {
				c.PutCombine(data, r, mine, a.Op)
			}
			c.Barrier(w.Team)
			c.Get(mine, data, c.Rank())
			c.Notify(flag, c.Rank(), tl.SignalAdd, 3)
		}, kerneltest.Config{Inputs: vectors(3, 4), Layout: layout(t, 4, 1), Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for r, p := range o.Prov {
			run := p.At(2)
			want := []collective.Contributor{{Rank: 0, Index: 2, Count: 1}, {Rank: 1, Index: 2, Count: 1}, {Rank: 2, Index: 2, Count: 1}}
			if !slices.Equal(run.Contributors(), want) {
				t.Fatalf("seed %d: rank %d has %v from %v (%s)", seed, r, run.Kind, run.Contributors(), o.Operation(run.Why))
			}
			if m := o.Window.Team.Meeting; m.Base < o.Window.Base+o.Window.Layout.Bytes {
				t.Fatalf("the barrier words at %#x begin before the end of the window at %#x", m.Base, o.Window.Base)
			}
			if got := o.Window.Words(r)[0]; got != 3 {
				t.Errorf("the word of rank %d is %d", r, got)
			}
		}
	}
}

// Traffic counts by rank the bytes that it moves between PEs, and its operations.
func TestTraffic(t *testing.T) {
	o, err := kerneltest.Observe(t.Context(), func(c *tl.Context, a tl.Args) {
		w, mine := a.Window(0), a.Shard(c.Rank())
		data, flag := c.Data(w, "data"), c.Signals(w, "flags").At(0)
		c.Put(data, c.Rank(), mine) // within the PE: no bytes are counted
		if c.Rank() == 1 {
			c.PutSignal(data.Slice(0, 2), 0, mine.Slice(0, 2), flag, tl.SignalSet, 1)
			c.Get(mine.Slice(0, 3), data.Slice(0, 3), 0)
			c.FetchAdd(flag, 0, 1)
		} else {
			c.WaitUntil(flag, tl.GE, 1)
		}
		c.Barrier(w.Team)
	}, kerneltest.Config{Inputs: vectors(2, 4), Layout: layout(t, 4, 1)})
	if err != nil {
		t.Fatal(err)
	}
	want := []tl.Traffic{
		{Rank: 0, Waits: 1, Puts: 1, Syncs: 1},
		{Rank: 1, Written: 8, Read: 12, Notifies: 1, Atomics: 1, Puts: 2, Gets: 1, Syncs: 1},
	}
	if !slices.Equal(o.Result.Traffic, want) {
		t.Errorf("%+v\nwant %+v", o.Result.Traffic, want)
	}
}

// Results may be stored out of place, and may have different lengths.
func TestOuts(t *testing.T) {
	in := [][]float64{{1, 2}, {3, 4}}
	got := kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
		r := c.Rank()
		for i := range a.OutElems[r] / 2 {
			c.Store(a.Out(r, a.OutElems[r]).Slice(2*i, 2), c.Load(a.Shard((r+i)%2)))
		}
	}, kerneltest.Config{Inputs: in, OutElems: []int{4, 2}})
	if want := [][]float64{{1, 2, 3, 4}, {3, 4}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A word wraps at the limits of its type.
func TestWordTypes(t *testing.T) {
	tests := []struct {
		part string
		adds []int64
		cmp  tl.Cmp
		want int64
	}{
		{"flags", []int64{math.MaxInt64, 1}, tl.EQ, math.MinInt64},
		{"flags", []int64{-5, 2}, tl.LT, 0},
		{"small", []int64{math.MaxInt32, 1}, tl.EQ, math.MinInt32},
		{"small", []int64{math.MinInt32, -1, -2}, tl.EQ, math.MaxInt32 - 2},
		{"big", []int64{-1}, tl.GT, math.MaxInt64},
		{"big", []int64{-1, 2}, tl.LE, 1},
	}
	for _, tt := range tests {
		for seed := range uint64(8) {
			o, err := kerneltest.Observe(t.Context(), func(c *tl.Context, a tl.Args) {
				s := c.Signals(a.Window(0), tt.part).At(1)
				if c.Rank() == 0 {
					for _, v := range tt.adds {
						c.Notify(s, 1, tl.SignalAdd, v)
					}
					c.Quiet()
					c.Notify(c.Signals(a.Window(0), "flags").At(0), 1, tl.SignalSet, 1)
					return
				}
				c.WaitUntil(c.Signals(a.Window(0), "flags").At(0), tl.EQ, 1)
				c.WaitUntil(s, tt.cmp, tt.want) // the condition holds already
				if c.LoadScalar(s) != c.FetchAdd(s, 1, 0) {
					panic("load_scalar and fetch_add differ")
				}
			}, kerneltest.Config{World: 2, Layout: layout(t, 1, 2), Seed: seed})
			if err != nil {
				t.Fatalf("%s %v, seed %d: %v", tt.part, tt.adds, seed, err)
			}
			sum := int64(0)
			for _, v := range tt.adds {
				sum += v
			}
			p := o.Window.Layout.Find(tt.part)
			if got := o.Window.Words(1)[p.First+1]; got != p.Word.Wrap(sum) {
				t.Errorf("%s %v: %d", tt.part, tt.adds, got)
			}
		}
	}
}

// Each comparison is tested with a smaller, an equal and a greater word.
func TestComparisons(t *testing.T) {
	tests := []struct {
		cmp  tl.Cmp
		hits [3]bool // by a word that is less, equal, greater
	}{
		{tl.EQ, [3]bool{false, true, false}},
		{tl.NE, [3]bool{true, false, true}},
		{tl.GT, [3]bool{false, false, true}},
		{tl.GE, [3]bool{false, true, true}},
		{tl.LT, [3]bool{true, false, false}},
		{tl.LE, [3]bool{true, true, false}},
	}
	for _, part := range []string{"flags", "small", "big"} {
		for _, tt := range tests {
			kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
				s := c.Signals(a.Window(0), part).At(0)
				for i, v := range []int64{4, 5, 6} {
					c.Notify(s, 0, tl.SignalSet, v)
					if got := c.Test(s, tt.cmp, 5); got != tt.hits[i] {
						t.Errorf("%s: %d %v 5 is %v", part, v, tt.cmp, got)
					}
					if tt.hits[i] {
						c.WaitUntil(s, tt.cmp, 5)
					}
				}
			}, kerneltest.Config{World: 1, Layout: layout(t, 1, 1)})
		}
	}
}

// A wait for a tensor of words ends when all of them satisfy it, and not before.
func TestTensorsOfWords(t *testing.T) {
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "flags", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 400)}}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name             string
		first            int
		extents, strides []int
		words            []int
	}{
		{"one word", 7, []int{1}, []int{1}, []int{7}},
		{"a scalar", 9, nil, nil, []int{9}},
		{"every third", 1, []int{4}, []int{3}, []int{1, 4, 7, 10}},
		{"backwards", 10, []int{3}, []int{-5}, []int{10, 5, 0}},
		{"a column of pairs", 2, []int{3, 2}, []int{10, 1}, []int{2, 3, 12, 13, 22, 23}},
		{"the same word twice", 5, []int{2}, []int{0}, []int{5}},
		{"five dimensions", 3, []int{2, 2, 1, 2, 2}, []int{200, 100, 7, 20, 1}, []int{
			3, 4, 23, 24, 103, 104, 123, 124, 203, 204, 223, 224, 303, 304, 323, 324,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(10) {
				kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
					all := c.Signals(a.Window(0), "flags")
					s := all.At(tt.first).Grid(tt.extents, tt.strides)
					if c.Rank() == 0 {
						for _, w := range tt.words {
							c.Notify(all.At(w), 1, tl.SignalSet, 2)
						}
						return
					}
					c.WaitUntil(s, tl.EQ, 2)
					if !c.Test(s, tl.GE, 2) {
						t.Error("the wait is over, the test fails")
					}
					for i := range 400 {
						if hit := c.Test(all.At(i), tl.EQ, 2); hit != slices.Contains(tt.words, i) {
							t.Errorf("word %d: %v", i, hit)
						}
					}
				}, kerneltest.Config{World: 2, Layout: l, Seed: seed})
			}
		})
	}
}

// Loading staging memory that was not written is a fault. Other data of a window start as zeros.
func TestStagingMemory(t *testing.T) {
	l, err := mem.NewLayout(0, []mem.Buffer{
		{Name: "staging", Parts: []mem.Part{mem.StagingPart("", dtype.F32, 4)}},
		{Name: "zeros", Parts: []mem.Part{mem.DataPart("", dtype.F32, 4)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, writes := range []bool{false, true} {
		got, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
			in, zeros := c.Local(c.Data(a.Window(0), "staging")), c.Local(c.Data(a.Window(0), "zeros"))
			if writes {
				c.Copy(in, a.Shard(c.Rank()))
			}
			c.Store(a.Shard(c.Rank()), c.Add(c.Load(in), c.Load(zeros)))
		}, kerneltest.Config{Inputs: [][]float64{{1, 2, 3, 4}}, Layout: l})
		if !writes && (err == nil || !strings.Contains(err.Error(), "was never written")) {
			t.Errorf("load before any write: %v", err)
		}
		if writes && (err != nil || !slices.Equal(got[0], []float64{1, 2, 3, 4})) {
			t.Errorf("load after a write: %v, %v", got, err)
		}
	}
}
