package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// TestBarrierUnderSchedules: no rank leaves a barrier before all have reached it, a thousand times.
// The team is not a power of two, and delays are random.
func TestBarrierUnderSchedules(t *testing.T) {
	const world, rounds = 7, 100
	for _, order := range everyOrder {
		b := newWindows(t, nil, setup{world: world, sets: []string{"fabric.memory_order=" + order.String()}}, words(1))
		for seed := range uint64(10) {
			var came, left [rounds][world]unit.Time
			b.renew()
			b.launch.Kernel = func(c *tl.Context, a tl.Args) {
				for k := range rounds {
					came[k][c.Rank()] = tl.DriverOf(c).Place("").Time
					if k%2 == 0 {
						c.Sync(a.Window(0).Team)
					} else {
						c.Barrier(a.Window(0).Team)
					}
					left[k][c.Rank()] = tl.DriverOf(c).Place("").Time
				}
			}
			if _, err := b.run(sim.Options{Seed: seed}); err != nil {
				t.Fatal(err)
			}
			for k := range rounds {
				if last, first := slices.Max(came[k][:]), slices.Min(left[k][:]); first < last {
					t.Fatalf("%v, seed %d: barrier %d was left at %v, and come to at %v", order, seed, k, first, last)
				}
			}
		}
	}
}

// TestWordDeadlocks: the report of a word that is never updated has its value and the agents that
// could update it.
func TestWordDeadlocks(t *testing.T) {
	tests := []struct {
		name   string
		kernel func(c *tl.Context, w *mem.Window)
		text   []string
	}{
		{"no rank notifies", func(c *tl.Context, w *mem.Window) {
			if c.Rank() == 1 {
				c.WaitUntil(c.Signals(w, "sig").At(2), tl.GE, 3)
			}
		}, []string{"1 of 3 ranks", "rank 1 (sip0.cube0.pe1) wait_until at sim/word_test.go:", "w.sig[2] >= 3, which is 0", "missing"}},
		{"too few", func(c *tl.Context, w *mem.Window) {
			c.Notify(c.Signals(w, "sig").At(0), 0, tl.SignalAdd, 1)
			c.WaitUntil(c.Signals(w, "sig").Slice(0, 4), tl.EQ, 3)
		}, []string{"3 of 3 ranks", "w.sig[0] == 3, which is 0", "w.sig[1] == 3, which is 0"}},
		{"no rank left to test for", func(c *tl.Context, w *mem.Window) {
			if c.Rank() == 2 {
				for !c.Test(c.Signals(w, "sig").At(1), tl.NE, 0) {
				}
			}
		}, []string{"rank 2 (sip0.cube0.pe2) test at sim/word_test.go:", "w.sig[1] != 0, which is 0", "since t=2ns"}},
		{"load_scalar in a loop", func(c *tl.Context, w *mem.Window) {
			for c.Rank() == 2 && c.LoadScalar(c.Signals(w, "sig").At(1)) == 0 {
			}
		}, []string{"load_scalar at", "w.sig[1] to change, which is 0"}},
		{"a lock that is never given back", func(c *tl.Context, w *mem.Window) {
			for c.CompareSwap(c.Signals(w, "sig").At(1), 0, 0, 1) != 0 {
			}
		}, []string{"2 of 3 ranks", "compare_swap at", "w.sig[1]", "== 0, which is 1"}},
		{"a loop of several looks", func(c *tl.Context, w *mem.Window) {
			s := c.Signals(w, "sig")
			for c.Rank() == 1 && (c.LoadScalar(s.At(1)) == 0 || c.LoadScalar(s.At(2)) == 0) && !c.Test(s.At(3), tl.GT, 0) {
			}
		}, []string{"1 of 3 ranks", "w.sig["}},
		{"sync without one", func(c *tl.Context, w *mem.Window) {
			if c.Rank() != 1 {
				c.Sync(w.Team)
			}
		}, []string{"sync at", "meeting.rounds[0] >= 1, which is 0",
			"missing sync: rank 1 finished without the sync that rank 0 waits for", "every member of a team"}},
	}
	for _, tt := range tests {
		for _, yield := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", tt.name, yield), func(t *testing.T) {
				b := newWindows(t, func(c *tl.Context, a tl.Args) { tt.kernel(c, a.Window(0)) }, setup{world: 3}, words(4))
				_, err := b.run(sim.Options{Yield: yield, RecordLines: true})
				var d *fault.Deadlock
				if !errors.As(err, &d) {
					t.Fatalf("got %v, want a deadlock", err)
				}
				for _, s := range tt.text {
					if !strings.Contains(err.Error(), s) {
						t.Errorf("no %q in\n%v", s, err)
					}
				}
			})
		}
	}
}

// TestSpinIsExact: a kernel that polls for long continues at the poll that finds the change, as if
// it had made all polls. Most polls were not made.
func TestSpinIsExact(t *testing.T) {
	loops := map[string]func(c *tl.Context, s tl.Signal){
		"test": func(c *tl.Context, s tl.Signal) {
			for !c.Test(s, tl.EQ, 1) {
			}
		},
		"load_scalar": func(c *tl.Context, s tl.Signal) {
			for c.LoadScalar(s) != 1 {
			}
		},
	}
	for name, loop := range loops {
		for _, work := range []int{10, 20, 30, 31, 5000, 5001, 5002, 5003, 50007} {
			for _, yield := range []bool{false, true} {
				var at unit.Time
				var events collector
				b := newWindows(t, func(c *tl.Context, a tl.Args) {
					s := c.Signals(a.Window(0), "sig").At(0)
					if c.Rank() == 1 {
						loop(c, s)
						at = tl.DriverOf(c).Place("").Time
						return
					}
					for range work {
						c.PipeBarrier()
					}
					c.Notify(s, 1, tl.SignalSet, 1)
				}, setup{world: 2}, words(1))
				res, err := b.run(sim.Options{Yield: yield, Trace: &events})
				if err != nil {
					t.Fatal(err)
				}
				c := termsOf(b.bench)
				changed := unit.Time(work+1)*c.I + c.notice(0, 1)
				period := c.I + c.word(1)
				polls := (changed - c.I + period - 1) / period // after the first, to the one that finds it
				if want := c.I + polls*period + c.word(1); at != want {
					t.Errorf("%s, %d, %v: went on at %v, closed form %v", name, work, yield, at, want)
				}
				if work > 4000 && !yield && res.Events > 300 {
					t.Errorf("%s: %d events of %d polls", name, res.Events, polls)
				}
			}
		}
	}
}

// TestPollingWithALimit: a kernel that gives up after so many polls is not taken for one that
// hangs, also when no other rank is left.
func TestPollingWithALimit(t *testing.T) {
	for _, most := range []int{10, 255, 256, 257, 5000} {
		b := newWindows(t, func(c *tl.Context, a tl.Args) {
			s := c.Signals(a.Window(0), "sig").At(0)
			if c.Rank() == 1 {
				for range most {
					if c.Test(s, tl.NE, 0) {
						return
					}
				}
				c.Notify(s, 0, tl.SignalSet, 1)
				return
			}
			c.WaitUntil(s, tl.EQ, 1)
		}, setup{world: 2}, words(1))
		if _, err := b.run(sim.Options{}); err != nil {
			t.Errorf("%d polls: %v", most, err)
		}
	}
}

// TestAtomicsAdd: of ranks that all add to one word, each gets another number; of ranks that
// all swap, one at a time holds the lock.
func TestAtomicsAdd(t *testing.T) {
	const world, times = 9, 20
	for seed := range uint64(8) {
		for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
			var got []int64
			held, most := 0, 0
			b := newWindows(t, func(c *tl.Context, a tl.Args) {
				s := c.Signals(a.Window(0), "sig")
				for range times {
					got = append(got, c.FetchAdd(s.At(0), 4, 1))
				}
				for c.CompareSwap(s.At(1), 2, 0, int64(c.Rank())+1) != 0 {
				}
				held++
				most = max(most, held)
				c.Full(tl.Dims(64), a.DType, 1)
				held--
				c.Notify(s.At(1), 2, tl.SignalSet, 0)
			}, setup{world: world}, words(2))
			if _, err := b.run(sim.Options{Seed: seed, Fidelity: f}); err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			for i, v := range got {
				if v != int64(i) {
					t.Fatalf("seed %d: the numbers are %v", seed, got)
				}
			}
			if end := b.win.Words(4)[0]; end != world*times || most != 1 {
				t.Errorf("seed %d: the word holds %d, the lock was held by %d", seed, end, most)
			}
		}
	}
}

// TestWithoutAtomics: a machine may lack those that return a value, but for the own words.
func TestWithoutAtomics(t *testing.T) {
	for _, peer := range []int{0, 1} {
		for name, op := range map[string]func(c *tl.Context, s tl.Signal){
			"fetch_add":    func(c *tl.Context, s tl.Signal) { c.FetchAdd(s, peer, 1) },
			"compare_swap": func(c *tl.Context, s tl.Signal) { c.CompareSwap(s, peer, 0, 1) },
		} {
			b := newWindows(t, func(c *tl.Context, a tl.Args) {
				if c.Rank() == 0 {
					op(c, c.Signals(a.Window(0), "sig").At(0))
				}
			}, setup{world: 2, sets: []string{"fabric.p2p_native_atomics=false"}}, words(1))
			_, err := b.run(sim.Options{})
			var u *fault.Unsupported
			if peer == 0 && err != nil || peer == 1 && (!errors.As(err, &u) || u.What != "fabric.p2p_native_atomics" || u.Op != name) {
				t.Errorf("%s at rank %d: %v", name, peer, err)
			}
		}
	}
}

// TestWordsWrap: words are of their type.
func TestWordsWrap(t *testing.T) {
	b := newWindows(t, func(c *tl.Context, a tl.Args) {
		w := a.Window(0)
		c.Notify(c.Signals(w, "small").At(0), 1-c.Rank(), tl.SignalAdd, 1<<31-1)
		c.Notify(c.Signals(w, "small").At(0), 1-c.Rank(), tl.SignalAdd, 1)
		c.WaitUntil(c.Signals(w, "small").At(0), tl.EQ, -1<<31)
		c.Notify(c.Signals(w, "large").At(0), 1-c.Rank(), tl.SignalSet, -1)
		c.WaitUntil(c.Signals(w, "large").At(0), tl.GT, 1)
	}, setup{world: 2}, mem.Buffer{Name: "large", Parts: []mem.Part{mem.SignalPart("", mem.Uint64, 1)}},
		mem.Buffer{Name: "small", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 1)}})
	if _, err := b.run(sim.Options{}); err != nil {
		t.Fatal(err)
	}
}

// TestTrafficIsCounted: what each rank did to the memory of others.
func TestTrafficIsCounted(t *testing.T) {
	b := newWindows(t, func(c *tl.Context, a tl.Args) {
		d, s := c.Data(a.Window(0), "data"), c.Signals(a.Window(0), "sig").At(0)
		if c.Rank() == 1 {
			c.Put(d, 0, c.Local(d))
			c.Get(c.Local(d), d, 2)
			c.Notify(s, 0, tl.SignalAdd, 1)
			c.FetchAdd(s, 0, 1)
		}
		c.Sync(a.Window(0).Team)
	}, setup{world: 3}, data(8), words(1))
	res, err := b.run(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []tl.Traffic{
		{Rank: 0, Syncs: 1}, {Rank: 1, Read: 16, Written: 16, Notifies: 1, Atomics: 1, Puts: 1, Gets: 1, Syncs: 1}, {Rank: 2, Syncs: 1},
	}
	if !slices.Equal(res.Traffic, want) {
		t.Errorf("counted %+v, want %+v", res.Traffic, want)
	}
}

// TestNoticesArrive: notifications are in flight until their words have changed.
func TestNoticesArrive(t *testing.T) {
	const all = 300
	var e *sim.Executor
	var before, after int
	b := newWindows(t, func(c *tl.Context, a tl.Args) {
		s := c.Signals(a.Window(0), "sig")
		if c.Rank() == 1 {
			c.WaitUntil(s.At(0), tl.GE, all)
			return
		}
		for range all {
			c.Notify(s.At(0), 1, tl.SignalAdd, 1)
		}
		before = e.InFlight()
		c.Quiet()
		after = e.InFlight()
	}, setup{world: 2}, words(1))
	for _, protocol := range []string{"", "simple"} { // seen at once, and later
		b.renew()
		b.launch.Ring.Protocol = protocols[protocol]
		e = sim.New(b.m, sim.Options{EventDriven: true})
		if _, err := e.Launch(t.Context(), b.launch); err != nil {
			t.Fatal(err)
		}
		if before != all || after != 0 {
			t.Errorf("protocol %q: %d are in flight, and %d when all have arrived; want %d and 0", protocol, before, after, all)
		}
	}
}

// TestSidedTrace: the events of one-sided operations and when they begin and end.
func TestSidedTrace(t *testing.T) {
	var events collector
	b := newWindows(t, func(c *tl.Context, a tl.Args) {
		d, s := c.Data(a.Window(0), "data"), c.Signals(a.Window(0), "sig")
		switch c.Rank() {
		case 0:
			c.PutSignal(d, 1, c.Local(d), s.At(0), tl.SignalAdd, 1)
		case 1:
			c.WaitUntil(s.At(0), tl.EQ, 1)
		}
	}, setup{world: 2}, data(8), words(1))
	if _, err := b.run(sim.Options{Trace: &events}); err != nil {
		t.Fatal(err)
	}
	c := termsOf(b.bench)
	there := c.I + c.S + c.path(b.m.HBM(0), b.m.HBM(1), 16)
	want := collector{
		{Kind: trace.Kernel, PE: 0, Rank: 0, Peer: -1, End: there + c.back(1, 0)},
		{Kind: trace.Kernel, PE: 1, Rank: 1, Peer: -1, End: there + c.W},
		{Kind: trace.Put, PE: 0, Rank: 0, Peer: 1, Start: c.I, End: there, Bytes: 16, Flow: 1<<32 + 1},
		{Kind: trace.Signal, PE: 1, Rank: 1, Peer: -1, Start: c.I, End: there + c.W, Bytes: 8, Stalled: there + c.W - c.I},
		{Kind: trace.Arrive, PE: 1, Rank: 1, Peer: 0, Start: there, End: there, Bytes: 16, Flow: 1<<32 + 1},
	}
	if !slices.Equal(events, want) {
		t.Errorf("events\n%+v\nwant\n%+v", events, want)
	}
}

// TestNotifyByHand: the sum that docs/model.md works out.
func TestNotifyByHand(t *testing.T) {
	var events collector
	b := newWindows(t, func(c *tl.Context, a tl.Args) {
		s := c.Signals(a.Window(0), "sig").At(0)
		if c.Rank() == 0 {
			c.Notify(s, 1, tl.SignalAdd, 1)
		} else {
			c.WaitUntil(s, tl.GE, 1)
		}
	}, setup{world: 2, ring: func(r *tl.Ring) { r.WakeCost = 4 * unit.Nanosecond }}, words(1))
	if _, err := b.run(sim.Options{Trace: &events}); err != nil {
		t.Fatal(err)
	}
	want := map[trace.Kind][]unit.Time{trace.Notify: {17093}, trace.Arrive: {17093}, trace.Signal: {21093}, trace.Kernel: {20186, 21093}}
	got := map[trace.Kind][]unit.Time{}
	for _, e := range events {
		got[e.Kind] = append(got[e.Kind], e.End)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ends (-want +got):\n%s", d)
	}
}
