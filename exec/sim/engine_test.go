package sim_test

import (
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// newEngines is newStreamsOn with communication engines.
func newEngines(t testing.TB, devices, n int, sets ...string) *streamBench {
	t.Helper()
	s := newStreamsOn(t, devices, n, sets...)
	s.batch.Engine = &launch.Engine{Scratch: s.launch.Scratch}
	return s
}

// task is one for a queue, of rank 0 in a world of its own.
func task(queue int, k tl.Kernel, windows ...*mem.Window) *tl.Task {
	return &tl.Task{Name: "t", Queue: queue, World: 1, Kernel: k, Args: tl.Args{Windows: windows}}
}

// issues returns a kernel of n instructions that take nothing but their issue.
func issues(n int) tl.Kernel {
	return func(c *tl.Context, _ tl.Args) {
		for range n {
			c.Fence()
		}
	}
}

// one launches a single program on a stream.
func (s *streamBench) one(stream int, k tl.Kernel, windows ...*mem.Window) {
	op := launchOp(k, 1, 1)
	op.Launch.Args.Windows = windows
	s.add(stream, op)
}

func (s *streamBench) took(t testing.TB, o sim.Options) unit.Time {
	t.Helper()
	res, err := s.run(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return res.Duration()
}

func f32(pe, off, n int) tl.Ref {
	return tl.Ref{Addr: mem.At(mem.HBM, pe, int64(off)), Shape: tl.Dims(n), DType: dtype.F32}
}

// everything returns a kernel that does a bit of everything with another PE, and with its own. It
// looks at words of its own, unless it is to run on another PE.
func everything(pe, other int, looks bool) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		w := a.Window(0)
		me, _ := w.Team.Rank(pe)
		peer, _ := w.Team.Rank(other)
		sig, sym := c.Signals(w, "sig"), c.Data(w, "data").Slice(0, 512)
		own := tl.Ref{Addr: w.Addr(me, 1024), Shape: tl.Dims(512), DType: dtype.F16}
		x := c.Load(f32(pe, 0, 1024))
		y := c.Load(f32(other, 0, 1024))
		x = c.Add(x, y)
		c.Store(f32(pe, away, 1024), x)
		c.Store(f32(other, away, 512), x.Slice(0, 512))
		c.PipeBarrier()
		c.PutSignal(sym, peer, own, sig.At(0), tl.SignalAdd, 1)
		c.Fence()
		c.Notify(sig.At(1), me, tl.SignalAdd, 1)
		if looks {
			c.WaitUntil(sig.At(1), tl.GE, 1)
		}
		c.FetchAdd(sig.At(2), peer, 1)
		c.PutTensor(sym, me, c.Convert(x.Slice(0, 512), dtype.F16))
		c.Quiet()
		c.Get(own, sym, peer)
		c.Await(c.Composite(tl.Composite{A: f32(pe, 0, 1024), Out: f32(pe, away, 1024), Epilogue: []tl.Epilogue{{Op: tl.EpilogueReLU}}}))
		for looks && c.LoadScalar(sig.At(1)) == 0 {
		}
		c.Store(f32(pe, away, 64), c.Neg(c.Load(f32(pe, 0, 64))))
	}
}

// A task that has the engine for itself takes as long as the same program in a grid alone on the
// engine's PE. It starts when it was posted.
func TestTaskAlone(t *testing.T) {
	tests := []struct {
		per           string
		poster, other int // PEs
		seat          int // of the engine
	}{
		{"pe", 0, 1, 0}, {"pe", 1, 2, 1},
		{"sip", 0, 1, 0}, {"sip", 1, 0, 0}, {"sip", 2, 1, 0},
	}
	for _, tt := range tests {
		time := func(posted, yield bool) (unit.Time, *streamBench) {
			s := newEngines(t, 3, 1024, "comm_engine.per="+tt.per)
			w := s.window(t, []int32{0, 1, 2}, data(1024), words(3))
			if err := zero(s.log, w); err != nil {
				t.Fatal(err)
			}
			k := everything(tt.poster, tt.other, tt.poster == tt.seat)
			if posted {
				s.one(tt.poster, func(c *tl.Context, _ tl.Args) { c.Post(task(0, k, w)) })
			} else {
				s.one(tt.seat, k, w)
			}
			return s.took(t, sim.Options{Yield: yield}), s
		}
		want, s := time(false, false)
		want += termsOf(s.bench).I
		for _, yield := range []bool{false, true} {
			if got, _ := time(true, yield); got != want {
				t.Errorf("%+v, yield %v: with its posting the task took %v, want %v", tt, yield, got, want)
			}
		}
	}
}

// The engine works in parallel with the PE: each has a CPU, a vector unit and a DMA of
// its own.
func TestEngineOverlaps(t *testing.T) {
	c := termsOf(newStreams(t, 1, 8).bench)
	const elems = 32 * 1024
	math, load := c.spec.Math.Time(elems), c.own(4*elems)
	compute := func(c *tl.Context, _ tl.Args) { c.Full(tl.Dims(elems), dtype.F32, 1) }
	read := func(c *tl.Context, _ tl.Args) { c.Load(f32(0, 0, elems)) }
	tests := []struct {
		name          string
		task, program tl.Kernel
		want          unit.Time // from the posting on
	}{
		{"the program is longer", issues(5), issues(500), 500 * c.I},
		{"the task is longer", issues(500), issues(5), 500 * c.I},
		{"both compute", compute, compute, c.I + math},
		{"the task moves", read, compute, c.I + max(load, math)},
		{"the program moves", compute, read, c.I + max(load, math)},
		{"await", issues(500), nil, c.I + 499*c.I}, // the await is issued meanwhile
	}
	for _, tt := range tests {
		s := newEngines(t, 1, elems)
		s.one(0, func(c *tl.Context, a tl.Args) {
			h := c.Post(task(1, tt.task))
			if tt.program == nil {
				c.Await(h)
				return
			}
			tt.program(c, a)
		})
		if got := s.took(t, sim.Options{}); got != c.I+tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, c.I+tt.want)
		}
	}
}

// A program and a task that read from one memory share its port; from two they do not.
func TestEngineSharesThePorts(t *testing.T) {
	const n = 16 * 1024 // 16 messages
	var loads []trace.Event
	spans := func(from int) unit.Time {
		s := newEngines(t, 2, n)
		s.one(0, func(c *tl.Context, _ tl.Args) {
			c.Post(task(0, func(c *tl.Context, _ tl.Args) { c.Load(f32(0, 0, n)) }))
			c.Load(f32(from, 0, n))
		})
		loads = nil
		took := s.took(t, sim.Options{Trace: sinkFunc(func(e *trace.Event) {
			if e.Kind == trace.Load {
				loads = append(loads, *e)
			}
		})})
		if len(loads) != 2 || loads[0].Core == loads[1].Core {
			t.Fatalf("loads %+v, want one of the PE and one of the engine", loads)
		}
		slices.SortFunc(loads, func(a, b trace.Event) int { return int(a.Core) - int(b.Core) })
		return took
	}
	c := termsOf(newStreams(t, 1, 8).bench)
	alone := c.own(4 * n)
	spans(1)
	if d := loads[1].End - loads[1].Start; d != alone {
		t.Errorf("a task that reads another memory than the program takes %v, alone %v", d, alone)
	}
	port := alone - c.own(0) // what its bytes take
	if got, want := spans(0), 2*c.I+alone+port; got != want {
		t.Errorf("together they take %v, want %v: the port passes all bytes", got, want)
	}
	for _, e := range loads {
		if e.End-e.Start <= alone {
			t.Errorf("one of two that share a port took %v, alone %v", e.End-e.Start, alone)
		}
	}
}

// Tasks of a queue follow one another; those of two queues go side by side, but their
// instructions are issued by one CPU.
func TestQueues(t *testing.T) {
	c := termsOf(newStreams(t, 1, 8).bench)
	const n = 100
	const elems = 32 * 1024
	math := c.spec.Math.Time(elems)
	compute := func(c *tl.Context, _ tl.Args) { c.Full(tl.Dims(elems), dtype.F32, 1) }
	tests := []struct {
		name   string
		task   tl.Kernel
		queues []int
		want   unit.Time
	}{
		{"one", issues(n), []int{0}, c.I + n*c.I},
		{"a queue", issues(n), []int{0, 0, 0}, c.I + 3*n*c.I},
		{"two queues", issues(n), []int{0, 1}, c.I + 2*n*c.I},
		{"three in two queues", issues(n), []int{1, 0, 1}, c.I + 3*n*c.I},
		{"one vector unit", compute, []int{0, 1}, 2*c.I + 2*math},
	}
	for _, tt := range tests {
		var spans []trace.Event
		s := newEngines(t, 1, 8)
		s.one(0, func(c *tl.Context, _ tl.Args) {
			for _, q := range tt.queues {
				c.Post(task(q, tt.task))
			}
		})
		got := s.took(t, sim.Options{Trace: sinkFunc(func(e *trace.Event) {
			if e.Kind == trace.Kernel && e.Core == trace.CommCore {
				spans = append(spans, *e)
			}
		})})
		if got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		for i := 1; i < len(spans); i++ {
			if same := tt.queues[i] == tt.queues[i-1]; same && spans[i].Start != spans[i-1].End {
				t.Errorf("%s: task %d starts at %v, the one before ends at %v", tt.name, i, spans[i].Start, spans[i-1].End)
			} else if !same && i == 1 && spans[1].Start >= spans[0].End {
				t.Errorf("%s: the queues do not overlap: %+v", tt.name, spans)
			}
		}
	}
}

// An engine for each PE issues for that PE alone, one for each SIP for all of them.
func TestEnginePerSIP(t *testing.T) {
	c := termsOf(newStreams(t, 1, 8).bench)
	const n = 100
	for per, want := range map[string]unit.Time{"pe": c.I + n*c.I, "sip": c.I + 2*n*c.I} {
		s := newEngines(t, 2, 8, "comm_engine.per="+per)
		for i := range 2 {
			s.one(i, func(c *tl.Context, _ tl.Args) { c.Post(task(0, issues(n))) })
		}
		if got := s.took(t, sim.Options{}); got != want {
			t.Errorf("per %s: two PEs that post take %v, want %v", per, got, want)
		}
	}
}

// The place of a program whose tasks go on may be another's by then.
func TestTasksOutliveTheirPosters(t *testing.T) {
	c := termsOf(newStreams(t, 1, 8).bench)
	const n = 300
	s := newEngines(t, 1, 8)
	ran := 0
	op := launchOp(func(c *tl.Context, _ tl.Args) {
		h := c.Post(task(c.ProgramID(0)%2, func(c *tl.Context, a tl.Args) { issues(n)(c, a); ran++ }))
		if c.ProgramID(0) == 3 {
			if c.Await(h); ran != 4 {
				t.Errorf("it goes on after %d tasks of 4, the last of which it awaits", ran)
			}
		}
	}, 4, 1)
	next := unit.Time(0)
	s.add(0, op, launchOp(func(c *tl.Context, _ tl.Args) { next = tl.DriverOf(c).Place("").Time }, 1, 1))
	s.took(t, sim.Options{})
	if ran != 4 {
		t.Errorf("%d of 4 tasks ran", ran)
	}
	if all := c.I + 4*n*c.I; next < all {
		t.Errorf("the next launch began at %v, before all tasks can have ended: %v", next, all)
	}
}

// Programs that post at will give the same trace with kernels ahead of the clock or not.
func TestEnginesAreDeterministic(t *testing.T) {
	for _, per := range []string{"pe", "sip"} {
		traceOf := func(o sim.Options) []trace.Event {
			s := newEngines(t, 3, 512, "comm_engine.per="+per, "pe.dma.queue_depth=2")
			for r := range 3 {
				s.add(r, launchOp(func(c *tl.Context, _ tl.Args) {
					i := c.ProgramID(0)
					h := c.Post(task(i%2, func(c *tl.Context, _ tl.Args) {
						x := c.Load(f32(r, i*128, 32))
						y := c.Load(f32((r+1)%3, i*128, 32))
						c.Store(f32(r, away+i*128, 32), c.Add(x, y))
						issues(i)(c, tl.Args{})
					}))
					issues(3*i)(c, tl.Args{})
					if i%3 == 0 {
						c.Await(h)
					}
				}, 12, 3))
			}
			var events []trace.Event
			o.Trace = sinkFunc(func(e *trace.Event) { events = append(events, *e) })
			s.took(t, o)
			return events
		}
		want := traceOf(sim.Options{})
		if again := traceOf(sim.Options{}); !slices.Equal(want, again) {
			t.Errorf("per %s: two runs differ", per)
		}
		if y := traceOf(sim.Options{Yield: true}); !slices.Equal(want, y) {
			t.Errorf("per %s: yielding at each instruction changes the trace: %d and %d events", per, len(want), len(y))
		}
	}
}
