package sim_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// streamBench is the default machine with one stream on each of its first PEs. Each HBM slice has n
// elements of F32 at offset 0, and n unwritten ones at offset away.
type streamBench struct {
	*bench
	log   *oplog.Log
	batch launch.Batch
}

// away is the offset of the memory that tests copy to, in bytes.
const away = 1 << 20

func newStreams(t testing.TB, devices, n int) *streamBench { return newStreamsOn(t, devices, n) }

// newStreamsOn is newStreams on a machine with other settings.
func newStreamsOn(t testing.TB, devices, n int, sets ...string) *streamBench {
	t.Helper()
	b := newBench(t, func(*tl.Context, tl.Args) {}, setup{world: devices, n: n, typ: dtype.F32, sets: sets})
	s := &streamBench{bench: b, log: b.fill(t, func(r, i int) float64 { return float64(1000*r + i) })}
	for r := range devices {
		if err := s.log.Map(mem.At(mem.HBM, r, away), dtype.F32, n); err != nil {
			t.Fatal(err)
		}
		s.batch.Streams = append(s.batch.Streams, launch.Stream{ID: r, PE: int32(r), Rank: r})
	}
	s.batch.Addrs, s.batch.Scratch = &mem.Map{}, b.launch.Scratch
	return s
}

func (s *streamBench) add(stream int, ops ...launch.StreamOp) {
	st := &s.batch.Streams[stream]
	st.Ops = append(st.Ops, ops...)
}

func copyOp(dst, src mem.Addr, n int) launch.StreamOp {
	return launch.StreamOp{Kind: launch.StreamCopy, Dst: dst, Src: src, Bytes: int64(n) * 4, Rows: 1, Type: dtype.F32, Line: "host.go:1"}
}

func launchOp(k tl.Kernel, grid, resident int) launch.StreamOp {
	return launch.StreamOp{Kind: launch.StreamLaunch,
		Launch: &launch.GridLaunch{Name: "k", Kernel: k, World: 1, Grid: grid, Resident: resident}}
}

func (s *streamBench) run(t testing.TB, o sim.Options) (*launch.Result, error) {
	t.Helper()
	if o.Data == nil {
		o.Data = s.log
	}
	return sim.New(s.m, o).RunStreams(context.Background(), &s.batch)
}

func (s *streamBench) values(t testing.TB, a mem.Addr, n int) []float64 {
	t.Helper()
	data, err := s.log.Read(a, dtype.F32, n)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = dtype.At(dtype.F32, data, i)
	}
	return v
}

// A copy to another PE takes as long as a message of its bytes from memory to memory. A copy within
// a memory passes its port twice. Copies of a stream follow one another.
func TestCopyEngine(t *testing.T) {
	const n = 1024
	s := newStreams(t, 2, n)
	s.add(0, copyOp(mem.At(mem.HBM, 1, away), mem.At(mem.HBM, 0, 0), n), copyOp(mem.At(mem.HBM, 0, away), mem.At(mem.HBM, 0, 0), n))
	res, err := s.run(t, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []tl.Traffic{{Written: 4 * n}, {Rank: 1}}; !slices.Equal(res.Traffic, want) {
		t.Errorf("traffic %+v, want %+v: a copy within a memory is no traffic", res.Traffic, want)
	}
	c := termsOf(s.bench)
	first := c.S + c.path(s.m.HBM(0), s.m.HBM(1), 4*n)
	second := c.S + 2*(c.own(4*n)-c.S)
	if got, want := res.Duration(), first+second; got != want {
		t.Errorf("two copies took %v, want %v + %v = %v", got, first, second, want)
	}
	for _, at := range []mem.Addr{mem.At(mem.HBM, 1, away), mem.At(mem.HBM, 0, away)} {
		if v := s.values(t, at, n); v[0] != 0 || v[n-1] != n-1 {
			t.Errorf("at %v: %v ... %v", at, v[0], v[n-1])
		}
	}
}

// Rows of a matrix are copied to another matrix with a different pitch.
func TestStridedCopy(t *testing.T) {
	s := newStreams(t, 2, 64)
	op := copyOp(mem.At(mem.HBM, 1, away), mem.At(mem.HBM, 0, 8), 4)
	op.Rows, op.SrcPitch, op.DstPitch = 3, 10*4, 4*4
	s.add(0, op)
	if _, err := s.run(t, sim.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.values(t, mem.At(mem.HBM, 1, away), 12),
		[]float64{2, 3, 4, 5, 12, 13, 14, 15, 22, 23, 24, 25}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Programs that only compute share one vector engine. So the computing time of a grid is the sum
// over its programs, whatever the number of resident programs. Only the issue times overlap.
func TestGridSharesTheEngines(t *testing.T) {
	const n = 64 * 1024
	var took []unit.Time
	for _, resident := range []int{1, 2, 8} {
		s := newStreams(t, 1, 8)
		ran := make([]bool, 8)
		s.add(0, launchOp(func(c *tl.Context, _ tl.Args) {
			if c.NumPrograms(0) != 8 || c.NumPrograms(1) != 1 || c.WorldSize() != 1 {
				t.Errorf("NumPrograms %d × %d, world %d", c.NumPrograms(0), c.NumPrograms(1), c.WorldSize())
			}
			ran[c.ProgramID(0)] = true
			x := c.Full(tl.Dims(n), dtype.F32, 1)
			c.Add(x, x)
		}, 8, resident))
		res, err := s.run(t, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(ran, false) {
			t.Errorf("%d resident: not all programs ran: %v", resident, ran)
		}
		took = append(took, res.Duration())
	}
	c := termsOf(newStreams(t, 1, 8).bench)
	each := 2 * c.spec.Math.Time(n)
	if want := 8 * (c.I + each); took[0] > want+8*2*c.I || took[0] < 8*each {
		t.Errorf("one at a time: %v, want about %v", took[0], want)
	}
	if took[1] < 8*each || took[2] < 8*each {
		t.Errorf("2 and 8 resident took %v and %v: less than the %v that one engine needs", took[1], took[2], 8*each)
	}
}

// Loads of resident programs overlap, so more resident programs hide more latency.
func TestResidentProgramsHideLatency(t *testing.T) {
	time := func(resident int) unit.Time {
		s := newStreams(t, 1, 8)
		s.add(0, launchOp(func(c *tl.Context, _ tl.Args) {
			for range 8 {
				x := c.Load(tl.Ref{Addr: mem.At(mem.HBM, 1, 0), Shape: tl.Dims(1), DType: dtype.F32})
				c.Neg(x)
			}
		}, 8, resident))
		if err := s.log.Map(mem.At(mem.HBM, 1, 0), dtype.F32, 1); err != nil {
			t.Fatal(err)
		}
		if err := s.log.Write(mem.At(mem.HBM, 1, 0), dtype.F32, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		res, err := s.run(t, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return res.Duration()
	}
	if one, eight := time(1), time(8); eight*4 > one {
		t.Errorf("8 resident took %v, one at a time %v: too little overlap", eight, one)
	}
}

// An event orders streams. A gang starts when the streams of all its members have reached it.
func TestEventsAndGangs(t *testing.T) {
	const n = 256
	s := newStreams(t, 3, n)
	done := &launch.Event{Name: "copied"}
	var starts []unit.Time
	note := func(c *tl.Context, _ tl.Args) { starts = append(starts, tl.DriverOf(c).Place("").Time) }
	g := &launch.Gang{Members: 2}
	s.add(0, copyOp(mem.At(mem.HBM, 1, away), mem.At(mem.HBM, 0, 0), n), launch.StreamOp{Kind: launch.StreamRecord, Event: done})
	s.add(1, launch.StreamOp{Kind: launch.StreamAwait, Event: done}, copyOp(mem.At(mem.HBM, 2, away), mem.At(mem.HBM, 1, away), n))
	for i, stream := range []int{1, 2} {
		op := launchOp(note, 1, 1)
		op.Launch.Gang, op.Launch.Rank, op.Launch.World = g, i, 2
		s.add(stream, op)
	}
	if _, err := s.run(t, sim.Options{}); err != nil {
		t.Fatal(err)
	}
	if v := s.values(t, mem.At(mem.HBM, 2, away), n); v[5] != 5 {
		t.Errorf("the second copy ran before the first: %v", v[:8])
	}
	c := termsOf(s.bench)
	want := 2*c.S + c.path(s.m.HBM(0), s.m.HBM(1), 4*n) + c.path(s.m.HBM(1), s.m.HBM(2), 4*n)
	if len(starts) != 2 || starts[0] != want || starts[1] != want {
		t.Errorf("members started at %v, want both at %v", starts, want)
	}
	if !done.Happened {
		t.Error("the event is not marked as recorded")
	}
}

// All runs of a batch give the same events, also if kernels may not run ahead of the clock.
func TestStreamsAreDeterministic(t *testing.T) {
	traceOf := func(o sim.Options) []trace.Event {
		s := newStreams(t, 4, 512)
		for r := range 4 {
			for i := range 4 {
				to := (r + i + 1) % 4
				s.add(r, copyOp(mem.At(mem.HBM, to, away+int64(r)*128*4), mem.At(mem.HBM, r, int64(to)*128*4), 128))
			}
			s.add(r, launchOp(func(c *tl.Context, _ tl.Args) {
				x := c.Load(tl.Ref{Addr: mem.At(mem.HBM, r, int64(c.ProgramID(0))*32*4), Shape: tl.Dims(32), DType: dtype.F32})
				c.Store(tl.Ref{Addr: mem.At(mem.HBM, r, int64(c.ProgramID(0))*32*4), Shape: tl.Dims(32), DType: dtype.F32}, c.Add(x, x))
			}, 16, 3))
		}
		var events []trace.Event
		o.Trace = sinkFunc(func(e *trace.Event) { events = append(events, *e) })
		if _, err := s.run(t, o); err != nil {
			t.Fatal(err)
		}
		return events
	}
	want := traceOf(sim.Options{})
	if again := traceOf(sim.Options{}); !slices.Equal(want, again) {
		t.Error("two runs differ")
	}
	if y := traceOf(sim.Options{Yield: true}); !slices.Equal(want, y) {
		t.Errorf("yielding at each instruction changes the trace: %d and %d events", len(want), len(y))
	}
}

type sinkFunc func(*trace.Event)

func (f sinkFunc) Emit(e *trace.Event) { f(e) }

// Faults of a program, a copy and a wait are reported with their rank or line.
func TestStreamFaults(t *testing.T) {
	s := newStreams(t, 1, 8)
	s.add(0, launchOp(func(c *tl.Context, _ tl.Args) {
		if c.ProgramID(0) == 3 {
			c.Load(tl.Ref{Addr: mem.At(mem.HBM, 9999, 0), Shape: tl.Dims(1), DType: dtype.F32})
		}
	}, 8, 2))
	_, err := s.run(t, sim.Options{})
	if bad, ok := errors.AsType[*fault.BadAddress](err); !ok || bad.Rank != 0 {
		t.Errorf("a load beyond the machine: %v", err)
	}
	s = newStreams(t, 1, 8)
	s.add(0, copyOp(mem.At(mem.HBM, 0, 1<<35), mem.At(mem.HBM, 0, 0), 8))
	_, err = s.run(t, sim.Options{})
	if bad, ok := errors.AsType[*fault.BadAddress](err); !ok || bad.Line != "host.go:1" {
		t.Errorf("a copy beyond memory: %v", err)
	}
	s = newStreams(t, 1, 8)
	w, err := newWindow([]int32{0}, []mem.Buffer{words(1)})
	if err != nil {
		t.Fatal(err)
	}
	s.add(0, launch.StreamOp{Kind: launch.StreamWait, Win: w, Cmp: tl.GE, Value: 1, Line: "host.go:2"})
	w.Released = true
	_, err = s.run(t, sim.Options{})
	if released, ok := errors.AsType[*fault.Released](err); !ok || released.Op != "wait_value" || released.Line != "host.go:2" {
		t.Errorf("a wait for a word of a released window: %v", err)
	}
}

// An event that is never recorded is a deadlock, not a hang.
func TestStreamDeadlock(t *testing.T) {
	s := newStreams(t, 2, 8)
	s.add(1, launch.StreamOp{Kind: launch.StreamAwait, Event: &launch.Event{Name: "never"}, Line: "host.go:7"})
	_, err := s.run(t, sim.Options{})
	d, ok := errors.AsType[*fault.Deadlock](err)
	if !ok {
		t.Fatalf("got %v, want a deadlock", err)
	}
	if len(d.Blocked) != 1 || d.Blocked[0].Line != "host.go:7" {
		t.Errorf("blocked: %v", d.Blocked)
	}
}

// If no remaining stream or program can change a word, a wait for that word is reported as a
// missing notification. The wait may be in a stream or in the last program of a grid. While
// another stream remains, that stream might change the word.
func TestNoAgentIsLeftToNotify(t *testing.T) {
	waits := func(w *mem.Window) launch.StreamOp {
		return launch.StreamOp{Kind: launch.StreamWait, Win: w, Cmp: tl.GE, Value: 7, Line: "host.go:7"}
	}
	program := func(w *mem.Window, grid, resident int) launch.StreamOp {
		return launchOp(func(c *tl.Context, _ tl.Args) { c.WaitUntil(c.Signals(w, "sig").At(0), tl.GE, 7) }, grid, resident)
	}
	never := launch.StreamOp{Kind: launch.StreamAwait, Event: &launch.Event{Name: "never"}}
	const missing = "missing notification: no agent is left that could change "
	for _, tt := range []struct {
		name string
		ops  func(w *mem.Window) []launch.StreamOp // of streams 0, 1
		want string
	}{
		{"a stream", func(w *mem.Window) []launch.StreamOp { return []launch.StreamOp{waits(w)} }, missing},
		{"a program", func(w *mem.Window) []launch.StreamOp { return []launch.StreamOp{program(w, 1, 1)} }, missing},
		{"two programs", func(w *mem.Window) []launch.StreamOp { return []launch.StreamOp{program(w, 2, 2)} }, ""},
		{"a program before others", func(w *mem.Window) []launch.StreamOp { return []launch.StreamOp{program(w, 2, 1)} }, ""},
		{"two streams", func(w *mem.Window) []launch.StreamOp { return []launch.StreamOp{waits(w), never} }, ""},
	} {
		s := newStreams(t, 2, 8)
		w, err := newWindow([]int32{0, 1}, []mem.Buffer{words(4)})
		if err != nil {
			t.Fatal(err)
		}
		for i, op := range tt.ops(w) {
			s.add(i, op)
		}
		_, err = s.run(t, sim.Options{})
		d, ok := errors.AsType[*fault.Deadlock](err)
		if !ok || !strings.HasPrefix(d.Missing, tt.want) || (tt.want == "") != (d.Missing == "") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A copy within a memory shares the memory port with bytes that arrive over a slower link. Those
// bytes take the rate of the link from the port, and the copy gets the rest.
func TestCopySharesThePortWithArrivals(t *testing.T) {
	const n, port, link = 1 << 18, 1024, 128 // GB/s
	s := newStreamsOn(t, 9, n, "cube.hbm_to_router_bw_gbs=1024")
	s.add(0, copyOp(mem.At(mem.HBM, 0, away), mem.At(mem.HBM, 0, 0), n))
	s.add(8, copyOp(mem.At(mem.HBM, 0, 2*away), mem.At(mem.HBM, 8, 0), n)) // from the next cube
	if err := s.log.Map(mem.At(mem.HBM, 0, 2*away), dtype.F32, n); err != nil {
		t.Fatal(err)
	}
	took := map[int32]unit.Time{}
	_, err := s.run(t, sim.Options{Trace: sinkFunc(func(e *trace.Event) {
		if e.Kind == trace.Copy {
			took[e.Rank] = e.End - e.Start
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	within := func(rank int32, gbs float64, bytes int) {
		if got, want := took[rank].Ns(), float64(bytes)/gbs; got < want || got > 1.02*want {
			t.Errorf("the copy of rank %d took %v ns, want %v (%v GB/s) to 2 %% more", rank, got, want, gbs)
		}
	}
	within(0, port-link, 2*4*n)
	within(8, link, 4*n)
}
