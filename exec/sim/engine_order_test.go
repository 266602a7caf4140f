package sim_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Programs that share a queue come to it by their clocks, however far they run ahead.
func TestTasksArePostedByTheClock(t *testing.T) {
	s := newEngines(t, 1, 8)
	var order []int
	s.add(0, launchOp(func(c *tl.Context, a tl.Args) {
		pid := c.ProgramID(0)
		issues([]int{200, 100, 1}[pid])(c, a)
		c.Post(task(0, func(c *tl.Context, a tl.Args) {
			order = append(order, pid)
			issues(500)(c, a)
		}))
	}, 3, 3))
	s.took(t, sim.Options{})
	if !slices.Equal(order, []int{2, 1, 0}) {
		t.Errorf("tasks of programs in the order %v, want 2, 1, 0", order)
	}
}

// A program's stores are complete for its task. The task's stores are complete for the agent that
// awaits it, and for the next operation of the stream.
func TestTasksSeeWhatCameBefore(t *testing.T) {
	const n = 16 * 1024
	s := newEngines(t, 2, n)
	last := f32(1, away+4*(n-4), 4) // of what takes its time to arrive
	s.one(0, func(c *tl.Context, _ tl.Args) {
		x := c.Load(f32(0, 0, n))
		c.Store(f32(1, away, n), c.Add(x, x))
		c.Await(c.Post(task(1, func(c *tl.Context, _ tl.Args) {
			x := c.Load(last)
			c.Store(last, c.Add(x, x))
		})))
		c.Post(task(1, func(c *tl.Context, _ tl.Args) {
			issues(100)(c, tl.Args{})
			c.Store(last, c.Add(c.Load(last), c.Full(tl.Dims(4), dtype.F32, 1)))
		}))
	})
	s.add(0, copyOp(mem.At(mem.HBM, 1, 0), last.Addr, 4))
	s.took(t, sim.Options{})
	if v := s.values(t, mem.At(mem.HBM, 1, 0), 4); v[3] != 4*(n-1)+1 {
		t.Errorf("%d, twice doubled, and 1 is %v", n-1, v[3])
	}
}

// What a rank does in its turn belongs to it, also what arrives after its end.
func TestTurnsOfTasks(t *testing.T) {
	const n = 256
	s := newEngines(t, 2, n)
	s.log.End()
	w := s.window(t, []int32{0, 1}, mem.Buffer{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F32, n)}}, words(2))
	if err := zero(s.log, w); err != nil {
		t.Fatal(err)
	}
	result := tl.Ref{Addr: w.Addr(1, 0), Shape: tl.Dims(n), DType: dtype.F32}
	turn := func(rank int, x tl.Ref) *tl.Turn {
		t := &tl.Turn{ID: 3, World: 2, Rank: rank, Label: 30 + rank, In: []tl.Ref{x}}
		if rank == 1 {
			t.Out = t.In
		}
		return t
	}
	tasks := []tl.Kernel{
		func(c *tl.Context, _ tl.Args) {
			tl.DriverOf(c).BeginTurn(turn(0, f32(0, 0, n)))
			c.WaitUntil(c.Signals(w, "sig").At(0), tl.GE, 1)
			c.PutCombine(c.Data(w, "data"), 1, f32(0, 0, n), tl.Sum)
			tl.DriverOf(c).EndTurn() // the data are in flight
			c.Fence()
			c.Notify(c.Signals(w, "sig").At(1), 1, tl.SignalAdd, 1)
		},
		func(c *tl.Context, _ tl.Args) {
			c.Store(result, c.Load(f32(1, 0, n)))
			c.PipeBarrier()
			tl.DriverOf(c).BeginTurn(turn(1, result))
			c.Notify(c.Signals(w, "sig").At(0), 0, tl.SignalAdd, 1)
			c.WaitUntil(c.Signals(w, "sig").At(1), tl.GE, 1)
			tl.DriverOf(c).EndTurn()
		},
	}
	for i, k := range tasks {
		s.one(i, func(c *tl.Context, _ tl.Args) { c.Post(task(0, k)) })
	}
	s.took(t, sim.Options{})
	turns, err := s.log.TakeTurns()
	if err != nil || len(turns) != 2 {
		t.Fatalf("%v, %d turns", err, len(turns))
	}
	got := turns[slices.IndexFunc(turns, func(c *oplog.CapturedTurn) bool { return c.Turn.Rank == 1 })]
	h := s.log.Hasher()
	want := h.Merge(nil, h.Own(nil, 30, 0, n), h.Own(nil, 31, 0, n), 0)
	if v := dtype.At(dtype.F32, got.Out, 5); !got.Ended || v != 1010 || !collective.Equal(got.Prov, want) {
		t.Errorf("ended %v with %v, %v; want 1010, %v", got.Ended, v, got.Prov, want)
	}
}

// Streams, programs and tasks tell the same of themselves with a clock and without.
func TestTasksTellTheSameAsWithoutAClock(t *testing.T) {
	var got [2]map[string][]string
	for i := range got {
		s := newEngines(t, 2, 64)
		for d := range 2 {
			s.one(d, func(c *tl.Context, _ tl.Args) {
				c.Store(f32(d, away, 4), c.Load(f32(d, 0, 4)))
				double := func(q int) tl.Handle {
					return c.Post(task(q, func(c *tl.Context, _ tl.Args) {
						x := c.Load(f32(d, away, 4))
						c.Store(f32(d, away, 4), c.Add(x, x))
					}))
				}
				double(0)
				c.Await(double(0))
				double(1)
			})
			s.add(d, copyOp(mem.At(mem.HBM, d, 0), mem.At(mem.HBM, d, away), 4))
		}
		log, all := recording()
		var err error
		if i == 0 {
			_, err = sim.New(s.m, sim.Options{Data: s.log, History: log}).RunStreams(t.Context(), &s.batch)
		} else {
			_, err = mock.New(mock.Options{Data: s.log, History: log}).RunStreams(t.Context(), &s.batch)
		}
		if err != nil {
			t.Fatal(err)
		}
		got[i] = all()
	}
	if len(got[0]) < 1+2*(1+1+2+2) {
		t.Errorf("%d agents tell of themselves, want the host, and twice a stream, a program, 2 queues and tasks of both: %v",
			len(got[0]), got[0])
	}
	for who, what := range got[0] {
		if !slices.Equal(what, got[1][who]) {
			t.Errorf("%s:\nwith a clock    %q\nwithout a clock %q", who, what, got[1][who])
		}
	}
}

// lineNumber matches line numbers, which change whenever a test above moves.
var lineNumber = regexp.MustCompile(`sim/engine_order_test\.go:\d+`)

func TestTasksInDeadlocks(t *testing.T) {
	s := newEngines(t, 2, 8)
	w := s.window(t, []int32{0, 1}, words(2))
	never := func(c *tl.Context, _ tl.Args) { c.WaitUntil(c.Signals(w, "sig").At(1), tl.GE, 7) }
	s.one(1, func(c *tl.Context, _ tl.Args) {
		c.Post(task(0, issues(3)))
		c.Await(c.Post(task(0, never)))
	})
	spins := func(c *tl.Context, _ tl.Args) {
		for !c.Test(c.Signals(w, "sig").At(0), tl.EQ, 1) {
		}
	}
	s.one(0, func(c *tl.Context, _ tl.Args) {
		c.Post(&tl.Task{Name: "AllReduce", Queue: 1, Rank: 3, World: 4, Kernel: spins})
		c.Post(task(1, issues(3))) // never begins
	})
	_, err := s.run(t, sim.Options{})
	if d, ok := errors.AsType[*fault.Deadlock](err); !ok || d.Stuck != 2 || d.Streams != 2 {
		t.Fatalf("%v, want a deadlock of both streams", err)
	}
	want := `deadlock: 2 of 2 streams cannot go on, t=TIME
  try: give every wait the notifications that satisfy it: the right member, word and value, on every rank and in every branch
  program 0 of 1 of k on stream 1 of rank 0 (sip0.cube0.pe1) wait at sim/engine_order_test.go since t=6ns: waits for task 1 (t) of queue 0 of the communication engine
  task 1 (t) of queue 0 of the communication engine of rank 0 (sip0.cube0.pe1) wait_until at sim/engine_order_test.go since t=10ns: waits for w.sig[1] >= 7, which is 0
  task 0 (AllReduce) of queue 1 of the communication engine of rank 3 (sip0.cube0.pe0) test at sim/engine_order_test.go since t=TIME: waits for w.sig[0] == 1, which is 0`
	text := regexp.MustCompile(`t=\d{3,}(\.\d+)?.?s`).ReplaceAllString(lineNumber.ReplaceAllString(err.Error(),
		"sim/engine_order_test.go"), "t=TIME")
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// A run that was cancelled ends, with tasks in progress.
func TestTasksAreCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newEngines(t, 1, 8)
	s.one(0, func(c *tl.Context, _ tl.Args) {
		c.Post(task(0, func(c *tl.Context, _ tl.Args) {
			for {
				cancel()
				c.Fence()
			}
		}))
	})
	if _, err := sim.New(s.m, sim.Options{Data: s.log}).RunStreams(ctx, &s.batch); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want it cancelled", err)
	}
}

// What tasks and the programs that post them do wrong comes out with its place.
func TestTaskFaults(t *testing.T) {
	fills := func(n int) tl.Kernel { return func(c *tl.Context, _ tl.Args) { c.Full(tl.Dims(n), dtype.F32, 1) } }
	posts := func(k tl.Kernel) tl.Kernel { return func(c *tl.Context, _ tl.Args) { c.Post(task(1, k)) } }
	adds := func(c *tl.Context, _ tl.Args) {
		x := c.Load(f32(0, 0, 4))
		c.Add(x, x)
	}
	tests := []struct {
		name   string
		engine bool
		core   tl.CoreType
		kernel tl.Kernel
		want   string // of the error; empty: none
	}{
		{"no engine", false, tl.CoreAny, posts(fills(1)), "post at FILE t=0ns: there is no communication engine"},
		{"a task that posts", true, tl.CoreAny, posts(posts(fills(1))), "post at FILE t=2ns: there is no communication engine"},
		{"space in scratch", true, tl.CoreAny, posts(fills(256)), ""},
		{"its own scratch", true, tl.CoreAny, posts(fills(257)), "the result needs 1028 B, scratch has 1 KiB"},
		{"beyond memory", true, tl.CoreAny, posts(func(c *tl.Context, _ tl.Args) { c.Load(f32(9999, 0, 1)) }),
			"task 0 (t) of queue 1 of the communication engine: rank 0 (sip0.cube0.pe0) load at FILE t=4ns: bad address"},
		{"a cube core adds", true, tl.CoreCube, adds, "a cube core has no vector unit"},
		{"a task is of no such type", true, tl.CoreCube, posts(adds), ""},
	}
	for _, tt := range tests {
		s := newStreams(t, 1, 8)
		if tt.engine {
			s.batch.Engine = &launch.Engine{Scratch: 1 << 10}
		}
		op := launchOp(tt.kernel, 1, 1)
		op.Launch.Cores = []tl.CoreType{tt.core}
		s.add(0, op)
		_, err := s.run(t, sim.Options{})
		if got := lineNumber.ReplaceAllString(fmt.Sprint(err), "FILE"); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", tt.name, got, tt.want)
		}
	}
}
