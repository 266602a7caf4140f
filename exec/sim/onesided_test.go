package sim_test

import (
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// notice returns what a control message needs from a PE into the HBM of another.
func (c *terms) notice(from, to int) unit.Time {
	return c.path(c.b.m.PE(from), c.b.m.HBM(to), c.request())
}

func (c *terms) request() int64 { return int64(c.b.topo.Fabric().RequestBytes) }

// back returns the time of an acknowledgement or reply.
func (c *terms) back(from, to int) unit.Time {
	if from == to {
		return 0
	}
	return c.path(c.b.m.PE(from), c.b.m.PE(to), c.request())
}

// ask returns the time of a request to a memory, which stops before its port.
func (c *terms) ask(from, to int) unit.Time { return c.back(from, to) }

// word returns what reading n words of 8 bytes of the own slice takes.
func (c *terms) word(n int) unit.Time { return c.path(c.b.m.HBM(0), c.b.m.PE(0), int64(8*n)) }

// TestOneSidedClosedForms: what each operation takes on an otherwise idle machine.
func TestOneSidedClosedForms(t *testing.T) {
	const n = 1000
	const bytes = 2 * n
	fill := func(c *tl.Context) tl.Tensor { return c.Full(tl.Dims(n), dtype.F16, 1) }
	tests := []struct {
		name   string
		kernel func(c *tl.Context, w *mem.Window, peer int) // of rank 0; rank 1 ends at once
		want   func(c *terms, peer int) unit.Time
	}{
		{"put of memory", func(c *tl.Context, w *mem.Window, peer int) {
			d := c.Data(w, "data")
			c.Put(d, peer, c.Local(d))
		}, func(c *terms, p int) unit.Time {
			return c.I + c.S + c.path(c.b.m.HBM(0), c.b.m.HBM(p), bytes) + c.back(p, 0)
		}},
		{"put of a tensor", func(c *tl.Context, w *mem.Window, peer int) {
			c.PutTensor(c.Data(w, "data"), peer, fill(c))
		}, func(c *terms, p int) unit.Time {
			return c.I + c.spec.Math.Time(n) + c.S + c.path(c.b.m.TCM(0), c.b.m.HBM(p), bytes) + c.back(p, 0)
		}},
		{"a put of memory returns when the source has been read", func(c *tl.Context, w *mem.Window, peer int) {
			d := c.Data(w, "data")
			c.Put(d, peer, c.Local(d))
			c.Full(tl.Dims(64*4000), dtype.F16, 0) // long enough to hide the rest
		}, func(c *terms, p int) unit.Time {
			return c.I + c.S + c.b.topo.Cube().HBMBW.Serial().Time(bytes) + c.I + c.spec.Math.Time(64*4000)
		}},
		{"get", func(c *tl.Context, w *mem.Window, peer int) {
			d := c.Data(w, "data")
			c.Get(c.Local(d), d, peer)
		}, func(c *terms, p int) unit.Time {
			return c.I + c.S + c.ask(0, p) + c.path(c.b.m.HBM(p), c.b.m.HBM(0), bytes)
		}},
		{"notify", func(c *tl.Context, w *mem.Window, peer int) {
			c.Notify(c.Signals(w, "sig").At(1), peer, tl.SignalSet, 1)
		}, func(c *terms, p int) unit.Time { return c.I + c.notice(0, p) + c.back(p, 0) }},
		{"fetch and add", func(c *tl.Context, w *mem.Window, peer int) {
			c.FetchAdd(c.Signals(w, "sig").At(1), peer, 1)
		}, func(c *terms, p int) unit.Time { return c.I + c.notice(0, p) + c.back(p, 0) }},
		{"two rounds of compare and swap", func(c *tl.Context, w *mem.Window, peer int) {
			s := c.Signals(w, "sig").At(1)
			if old := c.CompareSwap(s, peer, 0, 7); old != 0 {
				panic(fmt.Sprint("found ", old))
			}
			if old := c.CompareSwap(s, peer, 0, 8); old != 7 {
				panic(fmt.Sprint("found ", old))
			}
		}, func(c *terms, p int) unit.Time { return 2 * (c.I + c.notice(0, p) + c.back(p, 0)) }},
		{"a wait that is satisfied", func(c *tl.Context, w *mem.Window, peer int) {
			c.WaitUntil(c.Signals(w, "sig"), tl.EQ, 0)
		}, func(c *terms, p int) unit.Time { return c.I + c.word(4) }},
		{"test and load", func(c *tl.Context, w *mem.Window, peer int) {
			s := c.Signals(w, "sig")
			if c.Test(s, tl.NE, 0) || c.LoadScalar(s.At(2)) != 0 {
				panic("not zero")
			}
		}, func(c *terms, p int) unit.Time { return 2*c.I + c.word(4) + c.word(1) }},
		{"fence between puts", func(c *tl.Context, w *mem.Window, peer int) {
			d := c.Data(w, "data")
			x := fill(c)
			c.PutTensor(d, peer, x)
			c.Fence()
			c.PutTensor(d, peer, x)
		}, func(c *terms, p int) unit.Time {
			put := c.S + c.path(c.b.m.TCM(0), c.b.m.HBM(p), bytes) + c.back(p, 0)
			return c.I + c.spec.Math.Time(n) + 2*put
		}},
		{"a fence alone", func(c *tl.Context, w *mem.Window, peer int) { c.Fence() },
			func(c *terms, p int) unit.Time { return c.I }},
		{"quiet", func(c *tl.Context, w *mem.Window, peer int) {
			c.Notify(c.Signals(w, "sig").At(1), peer, tl.SignalSet, 1)
			c.Quiet()
			c.Full(tl.Dims(n), dtype.F16, 1)
		}, func(c *terms, p int) unit.Time {
			return c.I + c.notice(0, p) + c.back(p, 0) + c.I + c.spec.Math.Time(n)
		}},
		{"pipe barrier", func(c *tl.Context, w *mem.Window, peer int) {
			c.Store(c.Local(c.Data(w, "data")), fill(c))
			c.PipeBarrier()
			c.Notify(c.Signals(w, "sig").At(1), peer, tl.SignalSet, 1)
		}, func(c *terms, p int) unit.Time {
			return c.I + c.spec.Math.Time(n) + c.own(bytes) + c.I + c.notice(0, p) + c.back(p, 0)
		}},
		{"pipe barrier after a store to the peer", func(c *tl.Context, w *mem.Window, peer int) {
			c.Store(c.At(c.Data(w, "data"), peer), fill(c))
			c.PipeBarrier()
			c.Full(tl.Dims(n), dtype.F16, 1)
		}, func(c *terms, p int) unit.Time {
			return c.I + c.spec.Math.Time(n) + c.S + c.path(c.b.m.PE(0), c.b.m.HBM(p), bytes) + c.back(p, 0) + c.I + c.spec.Math.Time(n)
		}},
	}
	for _, tt := range tests {
		for _, pe := range []int32{1, 5, 21, 130} { // next door, in the cube, another cube, another SIP
			for peer := range 2 {
				t.Run(fmt.Sprintf("%s/pe%d/%d", tt.name, pe, peer), func(t *testing.T) {
					b := newWindows(t, func(c *tl.Context, a tl.Args) {
						if c.Rank() == 0 {
							tt.kernel(c, a.Window(0), peer)
						}
					}, setup{world: 2}, data(n), words(4))
					b.launch.Groups[0].PEs[1] = pe
					team, _ := mem.NewTeam("pair", []int32{0, pe})
					b.launch.Groups[0].Args.Windows[0] = mem.NewWindow("w", team, b.win.Layout, windowAt)
					c := termsOf(b.bench)
					if got, want := b.took(t, sim.Options{}), tt.want(&c, peer*int(pe)); got != want {
						t.Errorf("took %v, closed form %v", got, want)
					}
				})
			}
		}
	}
}

// TestNotifyAndWait: from a notification to the kernel that waits for it.
func TestNotifyAndWait(t *testing.T) {
	tests := []struct {
		name string
		ring func(*tl.Ring)
		idle int // elements of arithmetic before the wait begins
		want func(c *terms, r *tl.Ring) unit.Time
	}{
		{"awake at once", func(*tl.Ring) {}, 0, func(c *terms, r *tl.Ring) unit.Time { return c.I + c.notice(0, 1) }},
		{"sleep", func(r *tl.Ring) { r.WakeCost = 33 * unit.Nanosecond }, 0, func(c *terms, r *tl.Ring) unit.Time {
			return c.I + c.notice(0, 1) + r.WakeCost
		}},
		{"poll", func(r *tl.Ring) { r.Poll, r.PollEvery = true, 7*unit.Nanosecond }, 0, func(c *terms, r *tl.Ring) unit.Time {
			return c.I + (c.notice(0, 1)+r.PollEvery-1)/r.PollEvery*r.PollEvery
		}},
		{"there before", func(r *tl.Ring) { r.WakeCost = 33 * unit.Nanosecond }, 1, func(c *terms, r *tl.Ring) unit.Time {
			return 200*c.I + c.I + c.word(1)
		}},
	}
	for _, tt := range tests {
		for _, yield := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", tt.name, yield), func(t *testing.T) {
				var at unit.Time
				b := newWindows(t, func(c *tl.Context, a tl.Args) {
					s := c.Signals(a.Window(0), "sig").At(0)
					if c.Rank() == 0 {
						c.Notify(s, 1, tl.SignalAdd, 3)
						return
					}
					for range tt.idle * 200 {
						c.Fence()
					}
					c.WaitUntil(s, tl.GE, 3)
					at = tl.DriverOf(c).Place("").Time
				}, setup{world: 2, ring: tt.ring}, words(1))
				if _, err := b.run(sim.Options{Yield: yield}); err != nil {
					t.Fatal(err)
				}
				c := termsOf(b.bench)
				if want := tt.want(&c, &b.launch.Ring); at != want {
					t.Errorf("went on at %v, closed form %v", at, want)
				}
			})
		}
	}
}

// TestSyncClosedForm: a barrier on a uniform ring of PEs is log2 of the ranks' rounds of
// notify and wait.
func TestSyncClosedForm(t *testing.T) {
	b := newWindows(t, func(c *tl.Context, a tl.Args) { c.Sync(a.Window(0).Team) }, setup{world: 2, sets: uniformRing(2)}, words(1))
	c := termsOf(b.bench)
	if got, want := b.took(t, sim.Options{}), c.I+c.notice(0, 1)+max(c.W, c.back(1, 0)); got != want {
		t.Errorf("took %v, closed form %v", got, want)
	}
}

// TestPutFromTheMemoryOfAnother: a put whose source is elsewhere returns when that has been read,
// not when it has been requested. The read data count.
func TestPutFromTheMemoryOfAnother(t *testing.T) {
	const n = 32 << 10 // reading it takes longer than telling its owner
	for _, f := range []noc.Fidelity{noc.Slot, noc.Flit, noc.Ideal} {
		b := newWindows(t, func(c *tl.Context, a tl.Args) {
			s := c.Signals(a.Window(0), "sig")
			switch src := a.Shard(1); c.Rank() {
			case 0:
				c.Put(c.Data(a.Window(0), "data"), 2, src)
				c.Notify(s, 1, tl.SignalAdd, 1) // it may be overwritten
			case 1:
				c.WaitUntil(s, tl.GE, 1)
				c.Store(src.Slice(n-1, 1), c.Full(tl.Dims(1), a.DType, 9))
			}
		}, setup{world: 3, n: n}, data(n), words(1))
		log := b.fill(t, func(r, _ int) float64 { return float64(r) })
		if err := zero(log, b.win); err != nil {
			t.Fatal(err)
		}
		res, err := b.run(sim.Options{Data: log, Fidelity: f})
		if err != nil {
			t.Fatal(err)
		}
		got, err := log.Read(b.win.Addr(2, 0), dtype.F16, n)
		if err != nil {
			t.Fatal(err)
		}
		if v := dtype.At(dtype.F16, got, n-1); v != 1 {
			t.Errorf("%v: the put brought %v, which its source held after it had returned", f, v)
		}
		if want := (tl.Traffic{Read: 2 * n, Written: 2 * n, Puts: 1, Notifies: 1}); res.Traffic[0] != want {
			t.Errorf("%v: traffic %+v, want %+v", f, res.Traffic[0], want)
		}
	}
}
