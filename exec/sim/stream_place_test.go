package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// window makes a window over the devices of a stream bench, in an order of PEs.
func (s *streamBench) window(t testing.TB, pes []int32, buffers ...mem.Buffer) *mem.Window {
	t.Helper()
	w, err := newWindow(pes, buffers)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// What a stream writes into a word is there for whatever it does next, and for streams that
// wait for it.
func TestWritesAreThereForWhatFollows(t *testing.T) {
	for _, peer := range []int{0, 1} {
		s := newStreams(t, 2, 8)
		w := s.window(t, []int32{0, 1}, words(1))
		var got int64
		read := launchOp(func(c *tl.Context, a tl.Args) { got = c.LoadScalar(c.Signals(a.Window(0), "sig")) }, 1, 1)
		read.Launch.Args.Windows = []*mem.Window{w}
		s.add(0, launch.StreamOp{Kind: launch.StreamWrite, Win: w, Peer: peer, Value: 5})
		if peer == 1 {
			e := &launch.Event{Name: "written"}
			s.add(0, launch.StreamOp{Kind: launch.StreamRecord, Event: e})
			s.add(1, launch.StreamOp{Kind: launch.StreamAwait, Event: e})
		}
		s.add(peer, read)
		if _, err := s.run(t, sim.Options{}); err != nil {
			t.Fatal(err)
		}
		if got != 5 {
			t.Errorf("device %d read %d after 5 was written", peer, got)
		}
	}
}

// Programs are numbered in the order in which they start, also when one that began earlier
// has run ahead to a later end.
func TestProgramsStartInTheirOrder(t *testing.T) {
	for _, yield := range []bool{false, true} {
		s := newStreams(t, 1, 8)
		var starts []unit.Time
		s.add(0, launchOp(func(c *tl.Context, _ tl.Args) {
			starts = append(starts, tl.DriverOf(c).Place("").Time)
			for range []int{500, 10}[c.ProgramID(0)%2] {
				c.Fence()
			}
		}, 6, 2))
		if _, err := s.run(t, sim.Options{Yield: yield}); err != nil {
			t.Fatal(err)
		}
		if len(starts) != 6 || !slices.IsSorted(starts) {
			t.Errorf("yield=%v: programs 0 to 5 started at %v", yield, starts)
		}
	}
}

// Several programs on a PE that come to a rendezvous take their turns by their clocks,
// however far they run ahead.
func TestProgramsMeetByTheirClocks(t *testing.T) {
	var after [2][4]unit.Time
	for i := range after {
		s := newStreams(t, 2, 8)
		w := s.window(t, []int32{0, 1}, words(1))
		for d := range 2 {
			op := launchOp(func(c *tl.Context, a tl.Args) {
				for range 70 * (1 - c.ProgramID(0)) * (1 - d) {
					c.Fence()
				}
				c.Sync(a.Window(0).Team)
				after[i][2*d+c.ProgramID(0)] = tl.DriverOf(c).Place("").Time
			}, 2, 2)
			op.Launch.Args.Windows = []*mem.Window{w}
			s.add(d, op)
		}
		if _, err := s.run(t, sim.Options{Yield: i == 1}); err != nil {
			t.Fatal(err)
		}
	}
	if after[0] != after[1] {
		t.Errorf("with run-ahead the programs went on at %v, without at %v", after[0], after[1])
	}
	if slow, fast := after[0][0], after[0][1]; slow <= fast {
		t.Errorf("the program that came first went on at %v, the other one at %v", fast, slow)
	}
}

// All that a device did is reported for the device, whatever rank its kernels had in a team; and in
// both executors.
func TestTrafficIsOfTheDevice(t *testing.T) {
	want := []tl.Traffic{{Rank: 0, Notifies: 3}, {Rank: 2, Notifies: 4, Written: 16}}
	for i := range 2 {
		s := newStreams(t, 3, 64)
		s.batch.Streams = slices.Delete(s.batch.Streams, 1, 2)
		w := s.window(t, []int32{2, 0}, words(1)) // in the reverse order
		for k, grid := range []int{3, 4} {
			op := launchOp(func(c *tl.Context, a tl.Args) { c.Notify(c.Signals(a.Window(0), "sig"), 1, tl.SignalAdd, 1) }, grid, 2)
			op.Launch.Args.Windows = []*mem.Window{w}
			op.Launch.Rank, op.Launch.World = 1-k, 2
			s.add(k, op)
		}
		s.add(1, copyOp(mem.At(mem.HBM, 1, away), mem.At(mem.HBM, 2, 0), 4))
		e := []streamExecutor{sim.New(s.m, sim.Options{Data: s.log}), mock.New(mock.Options{Data: s.log})}[i]
		res, err := e.RunStreams(t.Context(), &s.batch)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(res.Traffic, want) {
			t.Errorf("%T: traffic %+v, want %+v", e, res.Traffic, want)
		}
	}
}

// The programs on a PE share the queues of its DMA: with space for one load, their loads go one
// after the other.
func TestProgramsShareTheQueues(t *testing.T) {
	took := func(depth int) unit.Time {
		s := newStreamsOn(t, 1, 8, fmt.Sprintf("pe.dma.queue_depth=%d", depth))
		far := tl.Ref{Addr: mem.At(mem.HBM, 40, 0), Shape: tl.Dims(64), DType: dtype.F32}
		s.add(0, launchOp(func(c *tl.Context, _ tl.Args) { c.Load(far) }, 8, 8))
		res, err := sim.New(s.m, sim.Options{}).RunStreams(t.Context(), &s.batch)
		if err != nil {
			t.Fatal(err)
		}
		return res.Duration()
	}
	if one, many := took(1), took(64); one < 3*many {
		t.Errorf("8 far loads take %v with a queue of 1, and %v with one of 64", one, many)
	}
}

// A program releases everything when it has ended: a long grid needs no more memory than a short
// one.
func TestLongGridsKeepNothing(t *testing.T) {
	const programs = 20000
	for i := range 2 {
		s := newStreams(t, 1, 8)
		var heap [2]uint64
		s.add(0, launchOp(func(c *tl.Context, _ tl.Args) {
			x := c.Load(tl.Ref{Addr: mem.At(mem.HBM, 0, 0), Shape: tl.Dims(8), DType: dtype.F32})
			c.Add(x, x)
			if k := slices.Index([]int{programs / 10, programs - 1}, c.ProgramID(0)); k >= 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				heap[k] = m.HeapAlloc
			}
		}, programs, 4))
		e := []streamExecutor{sim.New(s.m, sim.Options{}), mock.New(mock.Options{})}[i]
		if _, err := e.RunStreams(context.Background(), &s.batch); err != nil {
			t.Fatal(err)
		}
		if grown := int64(heap[1]) - int64(heap[0]); grown > programs*50 {
			t.Errorf("%T: %d bytes more with each program", e, grown*10/9/programs)
		}
	}
}

// Events of a stream and of its programs have one order, also when they begin and end alike.
func TestTraceHasOneOrder(t *testing.T) {
	var traces [2]collector
	for i := range traces {
		s := newStreams(t, 2, 8)
		for k := range 2 {
			op := launchOp(func(*tl.Context, tl.Args) {}, 12, 12)
			op.Launch.Rank, op.Launch.World = 3-k, 4
			s.add(k, op)
			s.batch.Streams[k].PE = 0
		}
		if i == 1 { // the ranks come to their turns in the reverse order
			slices.Reverse(s.batch.Streams)
		}
		if _, err := s.run(t, sim.Options{Trace: &traces[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(traces[0], traces[1]) {
		t.Errorf("one order\n%v\nand another\n%v", traces[0], traces[1])
	}
}

// A copy within the SRAM of a cube passes the cube's own links only, whichever it is.
func TestCopyWithinSRAM(t *testing.T) {
	took := func(cube int) unit.Time {
		s := newStreams(t, 1, 8)
		s.batch.Streams[0].PE = int32(cube * s.m.PEsPerCube())
		s.add(0, copyOp(mem.At(mem.SRAM, cube, away), mem.At(mem.SRAM, cube, 0), 1024))
		res, err := sim.New(s.m, sim.Options{}).RunStreams(t.Context(), &s.batch)
		if err != nil {
			t.Fatal(err)
		}
		return res.Duration()
	}
	if first, fourth := took(0), took(3); first != fourth {
		t.Errorf("within the SRAM of cube 0 %v, of cube 3 %v", first, fourth)
	}
}
