package mock_test

import (
	"maps"
	"testing"

	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// letters are the words and data of a litmus test. Rank 0 performs operations on rank 1, which
// waits for word x and then reads the others.
type letters struct {
	*tl.Context
	x, y tl.Signal // words
	a    tl.Sym    // two elements
	ones tl.Ref    // in rank 0's shard
}

func (l *letters) set(s tl.Signal) { l.Notify(s, 1, tl.SignalSet, 1) }
func (l *letters) put()            { l.Put(l.a, 1, l.ones) }

// seen returns what rank 1 saw of the data, or of y, once it had seen x: 0 or 1. Both elements
// of the data must have come, or none.
func seen(t *testing.T, of string, seed uint64, order mem.Ordering, sends func(*letters)) float64 {
	t.Helper()
	got := kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
		w, mine := a.Window(0), a.Shard(c.Rank())
		l := &letters{
			Context: c, x: c.Signals(w, "flags").At(0), y: c.Signals(w, "small").At(0), a: c.Data(w, "data"), ones: mine,
		}
		if c.Rank() == 0 {
			sends(l)
			return
		}
		c.WaitUntil(l.x, tl.EQ, 1)
		if of == "data" {
			c.Store(mine, c.Load(c.Local(l.a)))
		} else {
			c.Store(mine, c.Full(mine.Shape, mine.DType, float64(c.LoadScalar(l.y))))
		}
	}, kerneltest.Config{Inputs: [][]float64{{1, 1}, {9, 9}}, Layout: layout(t, 2, 1), Seed: seed, Order: order})
	if got[1][0] != got[1][1] {
		t.Fatalf("seed %d, %v: half of the data: %v", seed, order, got[1])
	}
	return got[1][0]
}

// What the orderings promise is kept under every schedule, and what they do not promise is
// broken by some.
func TestOrderings(t *testing.T) {
	tests := []struct {
		name  string
		of    string
		sends func(l *letters)
		keeps mem.Ordering // the weakest that promises 1
	}{
		{"put then notify", "data", func(l *letters) { l.put(); l.set(l.x) }, mem.InOrder},
		{"put, fence, notify", "data", func(l *letters) { l.put(); l.Fence(); l.set(l.x) }, mem.PutSignal},
		{"put, quiet, notify", "data", func(l *letters) { l.put(); l.Quiet(); l.set(l.x) }, mem.PutSignal},
		{"put, pipe barrier, notify", "data", func(l *letters) { l.put(); l.PipeBarrier(); l.set(l.x) }, mem.InOrder},
		{"put_nbi then notify", "data", func(l *letters) { l.PutNBI(l.a, 1, l.ones); l.set(l.x) }, mem.InOrder},
		{"put_nbi, fence, notify", "data", func(l *letters) { l.PutNBI(l.a, 1, l.ones); l.Fence(); l.set(l.x) }, mem.PutSignal},
		{"put_signal", "data", func(l *letters) { l.PutSignal(l.a, 1, l.ones, l.x, tl.SignalSet, 1) }, mem.PutSignal},
		{"put_signal_nbi", "data", func(l *letters) { l.PutSignalNBI(l.a, 1, l.ones, l.x, tl.SignalSet, 1) }, mem.PutSignal},
		{"put, then put_signal of others", "data", func(l *letters) {
			l.put()
			l.PutSignal(l.a.Slice(0, 0), 1, l.ones.Slice(0, 0), l.x, tl.SignalSet, 1)
		}, mem.ByChannel},
		{"put, fence, put_signal of others", "data", func(l *letters) {
			l.put()
			l.Fence()
			l.PutSignal(l.a.Slice(0, 0), 1, l.ones.Slice(0, 0), l.x, tl.SignalSet, 1)
		}, mem.PutSignal},
		{"two notifications", "y", func(l *letters) { l.set(l.y); l.set(l.x) }, mem.ByChannel},
		{"two notifications and a fence", "y", func(l *letters) { l.set(l.y); l.Fence(); l.set(l.x) }, mem.PutSignal},
		{"notify, then fetch_add", "y", func(l *letters) { l.set(l.y); l.FetchAdd(l.x, 1, 1) }, mem.ByChannel},
		{"fetch_add, then notify", "y", func(l *letters) { l.FetchAdd(l.y, 1, 1); l.set(l.x) }, mem.PutSignal},
		{"put, fence, compare_swap", "data", func(l *letters) { l.put(); l.Fence(); l.CompareSwap(l.x, 1, 0, 1) }, mem.PutSignal},
		{"put, then compare_swap", "data", func(l *letters) { l.put(); l.CompareSwap(l.x, 1, 0, 1) }, mem.InOrder},
		{"a fence before, of no use", "data", func(l *letters) { l.Fence(); l.put(); l.set(l.x) }, mem.InOrder},
		{"two fences, the put before both", "data",
			func(l *letters) { l.put(); l.Fence(); l.set(l.y); l.Fence(); l.set(l.x) }, mem.PutSignal},
	}
	seeds := uint64(60)
	if exhaustive.On() {
		seeds = 200
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for order := mem.PutSignal; order <= mem.Sequential; order++ {
				shown := -1
				for seed := uint64(0); seed < seeds && shown < 0; seed++ {
					if seen(t, tt.of, seed, order, tt.sends) == 0 {
						if shown = int(seed); seed == 0 {
							t.Errorf("%v: everything takes place at once without a seed", order)
						}
					}
				}
				switch kept := order >= tt.keeps; {
				case kept && shown >= 0:
					t.Errorf("%v promises an order that seed %d breaks", order, shown)
				case !kept && shown < 0:
					t.Errorf("%v promises no order, and no seed shows it", order)
				}
			}
		})
	}
}

// Only where each operation takes effect before the next begins does a notification to one
// rank say something of a put to another.
func TestOrderAcrossDestinations(t *testing.T) {
	for order := mem.PutSignal; order <= mem.Sequential; order++ {
		shown := false
		for seed := range uint64(200) {
			got := kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
				w, mine := a.Window(0), a.Shard(c.Rank())
				data, flag := c.Data(w, "data"), c.Signals(w, "flags").At(0)
				switch c.Rank() {
				case 0:
					c.Put(data, 1, mine)
					c.Fence() // of no use
					c.Notify(flag, 2, tl.SignalSet, 1)
				case 2:
					c.WaitUntil(flag, tl.EQ, 1)
					c.Get(mine, data, 1)
				}
			}, kerneltest.Config{Inputs: [][]float64{{1}, {2}, {3}}, Layout: layout(t, 1, 1), Seed: seed, Order: order})
			shown = shown || got[2][0] == 0
		}
		if shown == (order == mem.Sequential) {
			t.Errorf("%v: seen before it was there: %v", order, shown)
		}
	}
}

// A rank's own loads and stores take effect in its order, and others come between.
func TestRanksInterleave(t *testing.T) {
	seen := map[[2]float64]bool{}
	for seed := range uint64(100) {
		got := kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
			data := c.Data(a.Window(0), "data")
			x, y := data.Slice(0, 1), data.Slice(1, 1)
			if c.Rank() == 0 {
				one := c.Load(a.Shard(0).Slice(0, 1))
				c.Store(c.At(x, 1), one)
				c.Store(c.At(y, 1), one)
				return
			}
			c.Store(a.Shard(1).Slice(1, 1), c.Load(c.Local(y)))
			c.Store(a.Shard(1).Slice(0, 1), c.Load(c.Local(x)))
		}, kerneltest.Config{Inputs: [][]float64{{1, 1}, {9, 9}}, Layout: layout(t, 2, 1), Seed: seed})
		seen[[2]float64{got[1][0], got[1][1]}] = true
	}
	if want := map[[2]float64]bool{{0, 0}: true, {1, 0}: true, {1, 1}: true}; !maps.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
}
