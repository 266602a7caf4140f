package sim_test

import (
	"runtime"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// allocations of one launch on an executor that has run before.
func allocations(t *testing.T, e *sim.Executor, l *launch.Launch) float64 {
	t.Helper()
	launch := func() {
		if _, err := e.Launch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		launch()
	}
	runtime.GC()
	return testing.AllocsPerRun(5, launch)
}

// TestMessagesAllocateNothing: a launch with some four times the messages, of the same length,
// allocates no more than one with few. All allocations belong to the launch.
func TestMessagesAllocateNothing(t *testing.T) {
	inOneGoroutine(t)
	const world, few, many = 8, 5, 20 // pieces of a chunk
	for _, space := range []mem.Space{mem.TCM, mem.HBM} {
		for _, piece := range []int{100, 5_000} { // a slot, and several
			pieces := func(k int) (float64, int64) {
				b := newBench(t, algorithm.RingAllReduceChunked.Kernel, setup{
					world: world, n: world * k * piece, chunk: int64(2 * piece), space: space,
					ring: func(r *tl.Ring) { r.Protocol = protocols["ll128"] },
				})
				e := sim.New(b.m, sim.Options{})
				a := allocations(t, e, b.launch)
				res, err := e.Launch(t.Context(), b.launch)
				if err != nil {
					t.Fatal(err)
				}
				return a, res.Messages
			}
			a, messages := pieces(few)
			b, more := pieces(many)
			if more < 3*messages {
				t.Errorf("%v, pieces of %d elements: %d messages, and only %d of a vector four times as long", space, piece, messages, more)
			}
			if b-a > 8 { // tables that still grow
				t.Errorf("%v, pieces of %d elements: %v allocations with %d messages, %v with %d", space, piece, a, messages, b, more)
			}
		}
	}
}

// TestOneSidedAllocatesNothing: the same of puts, notifications, waits and barriers.
func TestOneSidedAllocatesNothing(t *testing.T) {
	inOneGoroutine(t)
	const world, n = 8, 100
	rounds := func(k int) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			w := a.Window(0)
			d, s := c.Data(w, "data"), c.Signals(w, "sig")
			me, next := c.Rank(), (c.Rank()+1)%world
			x := c.Full(tl.Dims(n), a.DType, 1)
			for range k {
				c.Put(d, next, c.Local(d))
				c.PutTensor(d, next, x)
				c.PutNBI(d, next, c.Local(d))
				c.Fence()
				c.Notify(s.At(0), next, tl.SignalAdd, 1)
				c.WaitUntil(s.At(0), tl.GE, 1)
				c.PutTensorSignal(d, (me+3)%world, x, s.At(1), tl.SignalAdd, 1)
				c.Get(c.Local(d), d, (me+2)%world)
				c.FetchAdd(s.At(2), next, 1)
				c.Test(s, tl.LT, 0)
				c.Store(c.At(d, next), x)
				c.PipeBarrier()
				c.Barrier(w.Team)
			}
		}
	}
	s := setup{world: world, ring: func(r *tl.Ring) { r.Protocol = protocols["ll128"] }}
	few, many := newWindows(t, rounds(5), s, data(n), words(3)), newWindows(t, rounds(50), s, data(n), words(3))
	e := sim.New(few.m, sim.Options{})
	launch := func(b *windowBench) float64 {
		b.renew()
		return allocations(t, e, b.launch)
	}
	if a, b := launch(few), launch(many); b-a > 8 { // tables that still grow
		t.Errorf("%v allocations, with 45 rounds more %v", a, b)
	}
}

// BenchmarkMessage compares a message through a ring with one by put, notify and wait; both
// between neighbours of 16 PEs.
func BenchmarkMessage(b *testing.B) {
	const world, n, rounds = 16, 256, 200
	kernels := map[string]tl.Kernel{
		"send_recv": func(c *tl.Context, a tl.Args) {
			x := c.Full(tl.Dims(n), a.DType, 1)
			for range rounds {
				c.Send(tl.East, x)
				c.Recv(tl.West, tl.Dims(n), a.DType)
			}
		},
		"put_notify_wait": func(c *tl.Context, a tl.Args) {
			d, s := c.Data(a.Window(0), "data"), c.Signals(a.Window(0), "sig").At(0)
			x, next := c.Full(tl.Dims(n), a.DType, 1), (c.Rank()+1)%world
			base := c.LoadScalar(s)
			for k := range int64(rounds) {
				c.PutTensor(d, next, x)
				c.Notify(s, next, tl.SignalAdd, 1)
				c.WaitUntil(s, tl.GE, base+k+1)
			}
		},
		"put_signal_wait": func(c *tl.Context, a tl.Args) {
			d, s := c.Data(a.Window(0), "data"), c.Signals(a.Window(0), "sig").At(0)
			x, next := c.Full(tl.Dims(n), a.DType, 1), (c.Rank()+1)%world
			base := c.LoadScalar(s)
			for k := range int64(rounds) {
				c.PutTensorSignal(d, next, x, s, tl.SignalAdd, 1)
				c.WaitUntil(s, tl.GE, base+k+1)
			}
		},
		"notify_wait": func(c *tl.Context, a tl.Args) {
			s := c.Signals(a.Window(0), "sig").At(0)
			next := (c.Rank() + 1) % world
			base := c.LoadScalar(s)
			for k := range int64(rounds) {
				c.Notify(s, next, tl.SignalAdd, 1)
				c.WaitUntil(s, tl.GE, base+k+1)
			}
		},
	}
	for _, name := range []string{"send_recv", "put_notify_wait", "put_signal_wait", "notify_wait"} {
		b.Run(name, func(b *testing.B) {
			x := newWindows(b, kernels[name], setup{world: world}, data(n), words(1))
			e := sim.New(x.m, sim.Options{})
			b.ReportAllocs()
			var events int64
			for range b.N {
				res, err := e.Launch(b.Context(), x.launch)
				if err != nil {
					b.Fatal(err)
				}
				events += res.Events
			}
			messages := float64(b.N) * world * rounds
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/messages, "ns/message")
			b.ReportMetric(float64(events)/messages, "events/message")
		})
	}
}
