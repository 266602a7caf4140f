package sim_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"kernbench/exec"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/tl"
	"kernbench/unit"
)

// TestCancel: a launch ends when its context does, whether its kernels talk or only compute.
func TestCancel(t *testing.T) {
	kernels := map[string]func(c *tl.Context, a tl.Args, turn func()){
		"in turns": func(c *tl.Context, a tl.Args, turn func()) {
			for x := own(c, a); ; x = like(c, tl.West, x) {
				turn()
				c.Send(tl.East, x)
			}
		},
		"without ever waiting": func(c *tl.Context, a tl.Args, turn func()) {
			for {
				turn()
				c.Free(c.Full(tl.Dims(1), a.DType, 0))
			}
		},
		"at memory": func(c *tl.Context, a tl.Args, turn func()) {
			for {
				turn()
				c.Free(own(c, a))
			}
		},
	}
	for name, k := range kernels {
		for _, yield := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			turns := 0
			b := newBench(t, func(c *tl.Context, a tl.Args) {
				k(c, a, func() {
					if turns++; turns == 500 {
						cancel()
					}
				})
			}, setup{world: 3, n: 4})
			e := sim.New(b.m, sim.Options{Yield: yield})
			if _, err := e.Launch(ctx, b.launch); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, yield=%v: %v", name, yield, err)
			}
			if _, err := e.Launch(t.Context(), b.launch); !errors.Is(err, sim.ErrBroken) {
				t.Errorf("%s: a launch after it: %v", name, err)
			}
			cancel()
		}
	}
}

// TestGoexit: a kernel that ends its goroutine, as t.FailNow does, ends the caller's.
func TestGoexit(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			if c.Rank() == 1 {
				runtime.Goexit()
			}
			c.Recv(tl.West, tl.Dims(1), a.DType)
		}, setup{world: 3})
		e := sim.New(b.m, sim.Options{})
		defer func() {
			if _, err := e.Launch(context.Background(), b.launch); !errors.Is(err, sim.ErrBroken) {
				t.Errorf("a launch after it: %v", err)
			}
		}()
		_, _ = e.Launch(context.Background(), b.launch)
		t.Error("Launch returned")
	}()
	<-done
}

// TestHangTime: a hang is as old as the last thing that any rank did, though the clock of
// events stopped before.
func TestHangTime(t *testing.T) {
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		for range 100 {
			c.Full(tl.Dims(1), a.DType, 0)
		}
		c.Recv(tl.West, tl.Dims(1), a.DType)
	}, setup{world: 2})
	_, err := b.run(sim.Options{})
	var d *fault.Deadlock
	if want := 101 * 2 * unit.Nanosecond; !errors.As(err, &d) || d.Time != want || d.Blocked[0].Time != want {
		t.Errorf("%v, want a hang since %v", err, want)
	}
}

// TestDeadlineIsReported: the error of a launch that a deadline ends names the deadline in both
// modes, not a cancellation.
func TestDeadlineIsReported(t *testing.T) {
	for _, o := range []sim.Options{{}, {EventDriven: true}, {SecondCore: true}} {
		b := newBench(t, roundTrips(1<<30, func(*tl.Context, int, tl.Tensor) {}), setup{world: 70, n: 8})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := (exec.Limits{}).Launch(ctx, sim.New(b.m, o), b.launch); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("event-driven %v: %v", o.EventDriven, err)
		}
	}
}
