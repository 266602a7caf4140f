package mock_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kernbench/exec"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// TestStall: a kernel that runs and issues nothing is reported with its line, and its launch is
// abandoned. Other kernels, and what ranks wait for, are not blamed.
func TestStall(t *testing.T) {
	var enough atomic.Bool
	left := make(chan struct{})
	defer func() {
		enough.Store(true)
		<-left
	}()
	spin := func() {
		for !enough.Load() {
		}
	}
	_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
		x := own(c, a)
		if c.Rank() == 2 {
			defer close(left)
			spin()
			c.Send(tl.East, x) // ends the goroutine of a launch that was abandoned
			t.Error("the kernel goes on")
		}
		like(c, tl.West, x)
	}, kerneltest.Config{Inputs: vectors(4, 1), Limits: exec.Limits{Stall: 20 * time.Millisecond}})
	stalled, ok := errors.AsType[*fault.Stalled](err)
	if !ok || stalled.Rank != 2 || !strings.HasPrefix(stalled.Line, "mock/endless_test.go:") || len(stalled.Stack) < 2 {
		t.Fatalf("%v, want that rank 2 stalls here", err)
	}
	if strings.Contains(err.Error(), "kernbench/tl") || strings.Contains(err.Error(), "iter.go") {
		t.Errorf("frames that are not the author's:\n%v", err)
	}
}

// TestStallOfWaiter: a kernel that waits for something outside the launch stalls too, at its line.
func TestStallOfWaiter(t *testing.T) {
	enough, left := make(chan struct{}), make(chan struct{})
	defer func() {
		close(enough)
		<-left
	}()
	_, err := kerneltest.Try(func(*tl.Context, tl.Args) {
		defer close(left)
		<-enough
	}, kerneltest.Config{World: 1, Limits: exec.Limits{Stall: 20 * time.Millisecond}})
	stalled, ok := errors.AsType[*fault.Stalled](err)
	if !ok || !strings.HasPrefix(stalled.Line, "mock/endless_test.go:") {
		t.Fatalf("%v, want that rank 0 stalls here", err)
	}
}

// TestSlowKernelDoesNotStall: a kernel that issues now and then may run longer than the limit.
func TestSlowKernelDoesNotStall(t *testing.T) {
	const stall = 200 * time.Millisecond
	_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
		for start := time.Now(); time.Since(start) < 2*stall; time.Sleep(time.Millisecond) {
			c.Free(own(c, a))
		}
	}, kerneltest.Config{Inputs: vectors(2, 1), Limits: exec.Limits{Stall: stall}})
	if err != nil {
		t.Error(err)
	}
}

// pingPong goes on for ever.
func pingPong(c *tl.Context, a tl.Args) {
	x := own(c, a)
	for {
		c.Send(tl.East, x)
		c.Free(like(c, tl.West, x))
	}
}

// TestLimitOfInstructions: a kernel that issues without end stops at the limit. The report has the
// line of each rank and how often the rank passed it.
func TestLimitOfInstructions(t *testing.T) {
	for _, limit := range []uint32{100, 5000} {
		_, err := kerneltest.Try(pingPong, kerneltest.Config{Inputs: vectors(3, 1), Limits: exec.Limits{Events: limit}})
		over, ok := errors.AsType[*fault.Limit](err)
		stopped, located := errors.AsType[*exec.Stopped](err)
		if !ok || !located || over.Calls != int64(limit) || !strings.HasPrefix(over.Line, "mock/") {
			t.Fatalf("%v, want the limit of %d here", err, limit)
		}
		if len(stopped.Stops) != 3 || !strings.Contains(err.Error(), "the line passed about ") {
			t.Errorf("want the places of 3 ranks: %v", err)
		}
	}
}

// TestLimitNotReached: a kernel that issues just as much as it may ends well.
func TestLimitNotReached(t *testing.T) {
	ten := func(c *tl.Context, a tl.Args) {
		for range 10 {
			own(c, a)
		}
	}
	for limit, ok := range map[uint32]bool{9: false, 10: true} {
		_, err := kerneltest.Try(ten, kerneltest.Config{Inputs: vectors(1, 1), Limits: exec.Limits{Events: limit}})
		if (err == nil) != ok {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// TestInterruptSaysWhere: a launch that is cancelled names the line of each rank, ranks of one line
// together, and how often they passed it.
func TestInterruptSaysWhere(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := kerneltest.Observe(ctx, func(c *tl.Context, a tl.Args) {
		if c.Rank() == 3 {
			c.Recv(tl.South, tl.Dims(1), a.DType)
		}
		cancel()
		for {
			c.Free(own(c, a))
			c.Send(tl.East, own(c, a))
			own(c, a)
			c.Recv(tl.West, tl.Dims(1), a.DType)
		}
	}, kerneltest.Config{Inputs: vectors(3, 1)})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	stopped, ok := errors.AsType[*exec.Stopped](err)
	if !ok || len(stopped.Stops) != 3 {
		t.Fatalf("%v, want where 3 ranks were", err)
	}
	for _, s := range stopped.Stops {
		if !strings.HasPrefix(s.Line, "mock/") || s.Calls == 0 {
			t.Errorf("%+v", s)
		}
	}
}

// TestInterruptOfSpin: a cancelled launch ends though its kernel issues nothing.
func TestInterruptOfSpin(t *testing.T) {
	var enough atomic.Bool
	left := make(chan struct{})
	defer func() {
		enough.Store(true)
		<-left
	}()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := kerneltest.Observe(ctx, func(c *tl.Context, _ tl.Args) {
		defer close(left)
		cancel()
		for !enough.Load() {
		}
	}, kerneltest.Config{World: 1})
	stopped, ok := errors.AsType[*exec.Stopped](err)
	if !ok || !errors.Is(err, context.Canceled) || stopped.Running == nil ||
		!strings.HasPrefix(stopped.Running.Line, "mock/endless_test.go:") {
		t.Errorf("%v, want the line of the kernel that runs", err)
	}
}

// TestInterruptOfSpinSaysWhereOthersWait: where one rank issues nothing, the others are suspended.
// The ranks at each line are named, with their instructions.
func TestInterruptOfSpinSaysWhereOthersWait(t *testing.T) {
	var enough atomic.Bool
	left := make(chan struct{})
	defer func() {
		enough.Store(true)
		<-left
	}()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := kerneltest.Observe(ctx, func(c *tl.Context, a tl.Args) {
		switch c.Rank() {
		case 0, 1:
			c.Recv(tl.West, tl.Dims(1), a.DType)
		case 2:
			c.Recv(tl.West, tl.Dims(2), a.DType)
		}
		defer close(left)
		cancel()
		for !enough.Load() {
			time.Sleep(time.Millisecond)
		}
	}, kerneltest.Config{World: 4})
	stopped, ok := errors.AsType[*exec.Stopped](err)
	if !ok {
		t.Fatal(err)
	}
	ranks := map[string][]int{}
	for _, s := range stopped.Stops {
		if strings.HasPrefix(s.Line, "mock/endless_test.go:") && s.Calls > 0 {
			ranks[s.Line] = append(ranks[s.Line], s.Rank)
		}
	}
	for _, want := range []string{"\n  ranks 0-1 at mock/endless_test.go:", "\n  rank 2 at mock/endless_test.go:",
		": 1 instructions so far"} {
		if !strings.Contains(err.Error(), want) || len(ranks) != 2 {
			t.Errorf("%v\nwant %q, of two lines: %v", err, want, ranks)
		}
	}
	if strings.Contains(err.Error(), "ranks not listed") {
		t.Errorf("every rank is listed: %v", err)
	}
}

// TestStallBeforeACall: an empty loop in front of a call of kernbench has the place of the call,
// whose function may be inlined. The named line is the author's.
func TestStallBeforeACall(t *testing.T) {
	var enough atomic.Bool
	left := make(chan struct{})
	defer func() {
		enough.Store(true)
		<-left
	}()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := kerneltest.Observe(ctx, func(c *tl.Context, a tl.Args) {
		defer close(left)
		cancel()
		for !enough.Load() {
			a.Shard(c.Rank())
		}
	}, kerneltest.Config{World: 1})
	stopped, ok := errors.AsType[*exec.Stopped](err)
	if !ok || stopped.Running == nil {
		t.Fatal(err)
	}
	for _, f := range stopped.Running.Stack {
		if !strings.HasPrefix(f, "mock/endless_test.go:") {
			t.Errorf("%q is not the author's", f)
		}
	}
}

// TestPanicByMisuse: the report of a panic has the author's frames and none of ours.
func TestPanicByMisuse(t *testing.T) {
	_, err := kerneltest.Try(func(_ *tl.Context, a tl.Args) { a.Window(3) }, kerneltest.Config{World: 1})
	if text := err.Error(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "mock/endless_test.go:") ||
		strings.Contains(text, "goroutine") {
		t.Errorf("want one frame of this file:\n%v", err)
	}
}

// TestPanicNil: panic(nil) is a fault like every panic.
func TestPanicNil(t *testing.T) {
	_, err := kerneltest.Try(func(*tl.Context, tl.Args) { panic(nil) }, kerneltest.Config{World: 2})
	if _, ok := errors.AsType[*fault.Panic](err); !ok {
		t.Errorf("%v, want a panic", err)
	}
}
