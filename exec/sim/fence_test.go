package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
	"kernbench/mem"
	"kernbench/tl"
)

// TestOrderUnderSchedules: what is ordered holds under every schedule; what is not shows in some.
// Rank 0 sends values to rank 1, which reports what it has seen.
func TestOrderUnderSchedules(t *testing.T) {
	const n = 600
	type side = func(c *tl.Context, d tl.Sym, s tl.Signal)
	full := func(c *tl.Context, v float64) tl.Tensor { return c.Full(tl.Dims(n), dtype.F16, v) }
	tell := func(c *tl.Context, s tl.Signal) { c.Notify(s, 1, tl.SignalAdd, 1) }
	waits := func(c *tl.Context, d tl.Sym, s tl.Signal) { c.WaitUntil(s, tl.GE, 1) }
	published := func(c *tl.Context, d tl.Sym, s tl.Signal) {
		c.Store(c.Local(d), full(c, 7))
		c.PipeBarrier()
		tell(c, s)
	}
	fetches := func(c *tl.Context, d tl.Sym, s tl.Signal) {
		c.WaitUntil(s, tl.GE, 1)
		c.Get(c.Local(d), d, 0)
	}
	tests := []struct {
		name   string
		send   side
		recv   side // then the data are read
		always []mem.Ordering
		never  []mem.Ordering // not always
	}{
		{"put, notify", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.PutTensor(d, 1, full(c, 7))
			tell(c, s)
		}, waits, orders(mem.InOrder, mem.Sequential), orders(mem.PutSignal, mem.ByChannel)},
		{"put, fence, notify", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.PutTensor(d, 1, full(c, 7))
			c.Fence()
			tell(c, s)
		}, waits, everyOrder, nil},
		{"put of memory, quiet, notify", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.Local(d), full(c, 7))
			c.PutNBI(d, 1, c.Local(d))
			c.Quiet()
			tell(c, s)
		}, waits, everyOrder, nil},
		{"put of memory whose source is waited for, notify", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.Local(d), full(c, 7))
			c.Put(d, 1, c.Local(d))
			tell(c, s)
		}, waits, orders(mem.InOrder, mem.Sequential), orders(mem.PutSignal, mem.ByChannel)},
		{"two puts of memory whose sources are waited for, put with signal", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.Local(d), full(c, 7))
			c.Put(d.Slice(0, n/2), 1, c.Local(d.Slice(0, n/2)))
			c.Put(d.Slice(n/2, n/2), 1, c.Local(d.Slice(n/2, n/2)))
			c.PutSignal(d.Slice(0, 0), 1, c.Local(d.Slice(0, 0)), s, tl.SignalSet, 1)
		}, waits, orders(mem.ByChannel, mem.InOrder, mem.Sequential), orders(mem.PutSignal)},
		{"put of memory whose source is waited for, fence, notify", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.Local(d), full(c, 7))
			c.Put(d, 1, c.Local(d))
			c.Fence()
			tell(c, s)
		}, waits, everyOrder, nil},
		{"put with signal", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.PutTensorSignal(d, 1, full(c, 7), s, tl.SignalSet, 1)
		}, waits, everyOrder, nil},
		{"put, put with signal", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.PutTensor(d, 1, full(c, 7))
			c.PutTensorSignal(d.Slice(0, 0), 1, full(c, 0).Slice(0, 0), s, tl.SignalSet, 1)
		}, waits, orders(mem.ByChannel, mem.InOrder, mem.Sequential), orders(mem.PutSignal)},
		{"put of memory, put with signal", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.Local(d), full(c, 7))
			c.PutNBI(d, 1, c.Local(d))
			c.PutTensorSignal(d.Slice(0, 0), 1, full(c, 0).Slice(0, 0), s, tl.SignalSet, 1)
		}, waits, orders(mem.ByChannel, mem.InOrder, mem.Sequential), orders(mem.PutSignal)},
		{"puts to one place", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.PutTensor(d, 1, full(c, 3))
			c.PutTensor(d, 1, full(c, 7))
			c.Quiet()
			tell(c, s)
		}, waits, orders(mem.ByChannel, mem.InOrder, mem.Sequential), orders(mem.PutSignal)},
		{"puts from two memories to one place", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.Local(d), full(c, 3))
			c.PutNBI(d, 1, c.Local(d))
			c.PutTensor(d, 1, full(c, 7))
			c.Quiet()
			tell(c, s)
		}, waits, orders(mem.ByChannel, mem.InOrder, mem.Sequential), orders(mem.PutSignal)},
		{"store, notify", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.At(d, 1), full(c, 7))
			tell(c, s)
		}, waits, orders(mem.InOrder, mem.Sequential), orders(mem.PutSignal, mem.ByChannel)},
		{"store, fence, notify", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.At(d, 1), full(c, 7))
			c.Fence()
			tell(c, s)
		}, waits, everyOrder, nil},
		{"own store, notify", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.Store(c.Local(d), full(c, 7))
			tell(c, s)
		}, fetches, nil, everyOrder},
		{"own store, pipe barrier, notify", published, fetches, everyOrder, nil},
		{"nbi get, read", published, func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.WaitUntil(s, tl.GE, 1)
			c.GetNBI(c.Local(d), d, 0)
		}, nil, everyOrder},
		{"nbi get, quiet, read", published, func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.WaitUntil(s, tl.GE, 1)
			c.GetNBI(c.Local(d), d, 0)
			c.Quiet()
		}, everyOrder, nil},
		{"notifications, set and set", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.PutTensor(d, 1, full(c, 7))
			c.Quiet()
			c.Notify(s, 1, tl.SignalSet, 2)
			c.Notify(s, 1, tl.SignalSet, 1)
		}, func(c *tl.Context, d tl.Sym, s tl.Signal) {
			for range 400 { // until both are there
				c.Full(tl.Dims(64*100), dtype.F16, 0)
			}
			if c.LoadScalar(s) != 1 {
				c.Store(c.Local(d), full(c, 1))
			}
		}, orders(mem.ByChannel, mem.InOrder, mem.Sequential), orders(mem.PutSignal)},
	}
	seeds := uint64(30)
	if exhaustive.On() {
		seeds = 60
	}
	for _, tt := range tests {
		for _, order := range everyOrder {
			always, never := slices.Contains(tt.always, order), slices.Contains(tt.never, order)
			if !always && !never {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", tt.name, order), func(t *testing.T) {
				wrong := 0
				b := newWindows(t, func(c *tl.Context, a tl.Args) {
					d, s := c.Data(a.Window(0), "data"), c.Signals(a.Window(0), "sig").At(0)
					if c.Rank() == 0 {
						tt.send(c, d, s)
						return
					}
					tt.recv(c, d, s)
					c.Store(a.Shard(1), c.Load(c.Local(d)))
				}, setup{world: 2, n: n, sets: []string{"system.sips.count=1", "sip.cube_mesh.w=1",
					"sip.cube_mesh.h=1", "fabric.memory_order=" + order.String()}}, data(n), words(1))
				for seed := range seeds {
					if wrong > 0 {
						break
					}
					b.renew()
					log := b.fill(t, func(int, int) float64 { return 0 })
					if err := zero(log, b.win); err != nil {
						t.Fatal(err)
					}
					f := []noc.Fidelity{noc.Slot, noc.Ideal}[seed%2]
					if _, err := b.run(sim.Options{Data: log, Seed: seed + 1, Fidelity: f}); err != nil {
						t.Fatal(err)
					}
					got, err := log.Read(b.launch.Groups[0].Args.Shards[1], dtype.F16, n)
					if err != nil {
						t.Fatal(err)
					}
					for i := range n {
						if dtype.At(dtype.F16, got, i) != 7 {
							wrong++
							break
						}
					}
				}
				if always && wrong > 0 || never && wrong == 0 {
					t.Errorf("wrong under a schedule of %d: %v", seeds, wrong > 0)
				}
			})
		}
	}
}

var everyOrder = orders(mem.PutSignal, mem.ByChannel, mem.InOrder, mem.Sequential)

func orders(o ...mem.Ordering) []mem.Ordering { return o }
