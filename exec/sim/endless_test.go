package sim_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kernbench/exec"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/tl"
	"kernbench/unit"
)

// limited launches a kernel under limits, recorded if possible, or event-driven.
func limited(t *testing.T, ctx context.Context, m exec.Limits, events bool, k tl.Kernel, world int) error {
	t.Helper()
	b := newBench(t, k, setup{world: world, n: 4})
	_, err := m.Launch(ctx, sim.New(b.m, sim.Options{EventDriven: events}), b.launch)
	return err
}

func both(t *testing.T, do func(t *testing.T, events bool)) {
	for name, events := range map[string]bool{"recorded": false, "event-driven": true} {
		t.Run(name, func(t *testing.T) { do(t, events) })
	}
}

// TestStall: a kernel that issues nothing is reported while it is recorded, and while it is
// simulated.
func TestStall(t *testing.T) {
	both(t, func(t *testing.T, events bool) {
		var enough atomic.Bool
		left := make(chan struct{})
		defer func() {
			enough.Store(true)
			<-left
		}()
		err := limited(t, t.Context(), exec.Limits{Stall: 20 * time.Millisecond}, events, func(c *tl.Context, a tl.Args) {
			own(c, a)
			if c.Rank() == 1 {
				defer close(left)
				for !enough.Load() {
				}
				own(c, a)
			}
		}, 3)
		stalled, ok := errors.AsType[*fault.Stalled](err)
		if !ok || stalled.Rank != 1 || stalled.PE != "sip0.cube0.pe1" || !strings.HasPrefix(stalled.Line, "sim/endless_test.go:") {
			t.Errorf("%v, want that rank 1 stalls here", err)
		}
	})
}

// endless are kernels that issue without end.
var endless = map[string]tl.Kernel{
	"messages": func(c *tl.Context, a tl.Args) {
		for x := own(c, a); ; {
			c.Send(tl.East, x)
			c.Free(like(c, tl.West, x))
		}
	},
	"loads": func(c *tl.Context, a tl.Args) {
		for {
			c.Free(own(c, a))
		}
	},
	"arithmetic": func(c *tl.Context, a tl.Args) {
		for {
			c.Free(c.Full(tl.Dims(1), a.DType, 0))
		}
	},
}

// TestLimits: endless kernels meet the limit of instructions, and that of simulated time.
func TestLimits(t *testing.T) {
	for name, k := range endless {
		both(t, func(t *testing.T, events bool) {
			for what, m := range map[string]exec.Limits{"instructions": {Events: 3000}, "time": {Until: 20 * unit.Microsecond}} {
				err := limited(t, t.Context(), m, events, k, 3)
				over, ok := errors.AsType[*fault.Limit](err)
				if !ok || !strings.HasPrefix(over.Line, "sim/") || over.Until != m.Until || over.Calls != int64(m.Events) {
					t.Errorf("%s, limit of %s: %v", name, what, err)
				}
			}
		})
	}
}

// TestLimitOfTimeAtTheEnd: a launch whose last instruction takes longer than the limit is refused.
func TestLimitOfTimeAtTheEnd(t *testing.T) {
	once := func(c *tl.Context, a tl.Args) { own(c, a) }
	if err := limited(t, t.Context(), exec.Limits{Until: unit.Nanosecond}, false, once, 1); err == nil || !fault.Is(err) {
		t.Errorf("a load within a nanosecond: %v", err)
	}
	if err := limited(t, t.Context(), exec.Limits{Until: unit.Second}, false, once, 1); err != nil {
		t.Error(err)
	}
}

// TestInterruptSaysWhere: an interrupt names lines, whether kernels are recorded or simulated.
func TestInterruptSaysWhere(t *testing.T) {
	for name, k := range endless {
		both(t, func(t *testing.T, events bool) {
			ctx, cancel := context.WithCancel(t.Context())
			err := limited(t, ctx, exec.Limits{}, events, func(c *tl.Context, a tl.Args) {
				cancel()
				k(c, a)
			}, 3)
			stopped, ok := errors.AsType[*exec.Stopped](err)
			if !ok || !errors.Is(err, context.Canceled) || len(stopped.Stops) == 0 {
				t.Fatalf("%s: %v, want places", name, err)
			}
			for _, s := range stopped.Stops {
				if !strings.HasPrefix(s.Line, "sim/") {
					t.Errorf("%s: %+v", name, s)
				}
			}
		})
	}
}

// TestGoexitIsAFault: a kernel that ends its goroutine is named.
func TestGoexitIsAFault(t *testing.T) {
	both(t, func(t *testing.T, events bool) {
		err := limited(t, t.Context(), exec.Limits{}, events, func(c *tl.Context, a tl.Args) {
			if own(c, a); c.Rank() == 1 {
				runtime.Goexit()
			}
		}, 3)
		exited, ok := errors.AsType[*fault.Exited](err)
		if !ok || exited.Rank != 1 || !strings.HasPrefix(exited.Line, "sim/endless_test.go:") {
			t.Errorf("%v, want that rank 1 ended its goroutine here", err)
		}
	})
}
