package mock_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"

	"github.com/google/go-cmp/cmp"
)

// devices are PEs with a vector of 16 numbers each, 100 times the PE and up, and a window.
type devices struct {
	t   testing.TB
	log *oplog.Log
	w   *mem.Window
	b   launch.Batch
}

func newDevices(t testing.TB, n int) *devices {
	d := &devices{t: t, log: oplog.New(oplog.Options{Inline: true}), b: launch.Batch{Addrs: &mem.Map{}, Scratch: 1 << 16}}
	t.Cleanup(d.log.Close)
	pes := make([]int32, n)
	for pe := range n {
		pes[pe] = int32(pe)
		data := make([]byte, 16*4)
		for i := range 16 {
			dtype.SetInt(dtype.I32, data, i, int64(100*pe+i))
		}
		at := mem.At(mem.HBM, pe, 0)
		if err := errors.Join(d.log.Map(at, dtype.I32, 16), d.log.Write(at, dtype.I32, data)); err != nil {
			t.Fatal(err)
		}
	}
	tm := team(t, 0, pes...)
	d.w = mem.NewWindow("w", tm, layout(t, 4, 4), 1<<16)
	return d
}

// on queues operations on a new stream of a device.
func (d *devices) on(pe int, ops ...launch.StreamOp) {
	d.b.Streams = append(d.b.Streams, launch.Stream{ID: len(d.b.Streams), PE: int32(pe), Rank: pe, Ops: ops})
}

func (d *devices) run(seed uint64) (*launch.Result, error) {
	return mock.New(mock.Options{Data: d.log, Seed: seed, RecordLines: true}).RunStreams(d.t.Context(), &d.b)
}

func (d *devices) vector(pe int) []int64 {
	data, err := d.log.Read(mem.At(mem.HBM, pe, 0), dtype.I32, 16)
	if err != nil {
		d.t.Fatal(err)
	}
	v := make([]int64, 16)
	for i := range v {
		v[i] = dtype.AtInt(dtype.I32, data, i)
	}
	return v
}

// word is number i of the flags of a device.
func (d *devices) word(pe, i int) int64 { return d.w.Words(pe)[i] }

// copied returns a copy of n elements from element i of one device to element k of another.
func copied(to, k, from, i, n int) launch.StreamOp {
	return launch.StreamOp{
		Kind: launch.StreamCopy, Line: "host.go:1", Type: dtype.I32, Rows: 1, Bytes: int64(4 * n),
		Dst: mem.At(mem.HBM, to, int64(4*k)), Src: mem.At(mem.HBM, from, int64(4*i)),
	}
}

func record(e *launch.Event) launch.StreamOp {
	return launch.StreamOp{Kind: launch.StreamRecord, Line: "host.go:2", Event: e}
}
func await(e *launch.Event) launch.StreamOp {
	return launch.StreamOp{Kind: launch.StreamAwait, Line: "host.go:3", Event: e}
}

func (d *devices) write(peer, word int, v int64) launch.StreamOp {
	return launch.StreamOp{Kind: launch.StreamWrite, Line: "host.go:4", Win: d.w, Peer: peer, Word: int32(word), Value: v}
}

func (d *devices) wait(peer, word int, cmp tl.Cmp, v int64) launch.StreamOp {
	return launch.StreamOp{Kind: launch.StreamWait, Line: "host.go:5", Win: d.w, Peer: peer, Word: int32(word), Cmp: cmp, Value: v}
}

// launch returns a grid of programs on the device that it is queued on.
func (d *devices) launch(rank, grid, resident int, k func(c *tl.Context, flags tl.Signal)) launch.StreamOp {
	return launch.StreamOp{Kind: launch.StreamLaunch, Line: "host.go:6", Launch: &launch.GridLaunch{
		Name: "work", Rank: rank, World: d.w.Team.Size(), Grid: grid, Resident: resident,
		Kernel: func(c *tl.Context, a tl.Args) { k(c, c.Signals(d.w, "flags")) },
	}}
}

// everySeed runs batches that have one outcome, in order and under many schedules.
func everySeed(t *testing.T, n int, batch func(d *devices), check func(d *devices, r *launch.Result)) {
	t.Helper()
	for seed := range uint64(40) {
		d := newDevices(t, n)
		batch(d)
		r, err := d.run(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if check(d, r); t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

func TestStreamCopies(t *testing.T) {
	everySeed(t, 2, func(d *devices) {
		rows := copied(1, 1, 0, 0, 2) // two elements of each row of 4 into a column of rows of 5
		rows.Rows, rows.SrcPitch, rows.DstPitch = 3, 16, 20
		d.on(0, rows, copied(0, 15, 1, 1, 1)) // the second sees the first
	}, func(d *devices, r *launch.Result) {
		if got, want := d.vector(1), []int64{100, 0, 1, 103, 104, 105, 4, 5, 108, 109, 110, 8, 9, 113, 114, 115}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if got := d.vector(0)[15]; got != 0 {
			t.Errorf("the second copy brought %d", got)
		}
		if d := cmp.Diff([]tl.Traffic{{Rank: 0, Read: 4, Written: 24}}, r.Traffic); d != "" {
			t.Error(d)
		}
	})
}

// Streams run side by side, and one that waits for an event of another goes on after it.
func TestStreamEvents(t *testing.T) {
	var order []string
	orders := map[string]bool{}
	everySeed(t, 2, func(d *devices) {
		order = nil
		e, before := &launch.Event{Name: "ready"}, &launch.Event{Name: "before", Happened: true}
		note := func(s string) launch.StreamOp {
			return d.launch(0, 1, 1, func(*tl.Context, tl.Signal) { order = append(order, s) })
		}
		d.on(0, await(before), note("first"), copied(0, 0, 1, 7, 1), record(e), note("after"))
		d.on(1, note("beside"), await(e), copied(1, 0, 0, 0, 1), note("last"))
	}, func(d *devices, r *launch.Result) {
		if got := d.vector(1)[0]; got != 107 {
			t.Errorf("the copy after the event brought %d", got)
		}
		if slices.Index(order, "last") < slices.Index(order, "first") || len(order) != 4 {
			t.Errorf("kernels ran in the order %v", order)
		}
		orders[fmt.Sprint(order)] = true
	})
	if len(orders) < 4 {
		t.Errorf("the schedules have these orders only: %v", orders)
	}
}

// Programs of a grid know their numbers and start in order. At most the allowed number is resident
// at a time.
func TestGrids(t *testing.T) {
	for _, resident := range []int{1, 3, 8} {
		var started []int
		everySeed(t, 2, func(d *devices) {
			started = nil
			now, most := 0, 0
			d.on(1, d.launch(1, 8, resident, func(c *tl.Context, flags tl.Signal) {
				started = append(started, c.ProgramID(0))
				if c.Rank() != 1 || c.WorldSize() != 2 || c.NumPrograms(0) != 8 || c.ProgramID(1) != 0 || c.NumPrograms(1) != 1 {
					panic("who am I?")
				}
				now++
				most = max(most, now)
				for range 5 {
					c.FetchAdd(flags.At(0), 1, 1)
				}
				now--
				c.Notify(flags.At(1), 0, tl.SignalAdd, int64(c.ProgramID(0)))
			}), d.launch(1, 1, 1, func(c *tl.Context, flags tl.Signal) {
				if most > resident {
					panic(fmt.Sprintf("%d at a time", most))
				}
				c.WaitUntil(flags.At(0), tl.EQ, 40) // the grid is complete
			}))
		}, func(d *devices, r *launch.Result) {
			if d.word(1, 0) != 40 || d.word(0, 1) != 28 {
				t.Errorf("%d resident: words %d and %d", resident, d.word(1, 0), d.word(0, 1))
			}
			if !slices.IsSorted(started) && resident == 1 || len(started) != 8 {
				t.Errorf("%d resident: started %v", resident, started)
			}
			want := []tl.Traffic{{Rank: 1, Notifies: 8, Atomics: 40, Waits: 1}}
			if d := cmp.Diff(want, r.Traffic); d != "" {
				t.Error(d)
			}
		})
	}
}

// A group launch starts when all its streams have come to it, and none before.
func TestGangs(t *testing.T) {
	everySeed(t, 3, func(d *devices) {
		gang := &launch.Gang{Members: 3}
		came := 0
		for pe := range 3 {
			arrive := d.launch(pe, 1, 1, func(*tl.Context, tl.Signal) { came++ })
			meet := d.launch(pe, 2, 2, func(c *tl.Context, flags tl.Signal) {
				if came != 3 {
					panic(fmt.Sprintf("%d have come", came))
				}
				for r := range 3 {
					c.Notify(flags.At(0), r, tl.SignalAdd, 1)
				}
				c.WaitUntil(flags.At(0), tl.EQ, 6)
			})
			meet.Launch.Gang = gang
			d.on(pe, arrive, meet)
		}
	}, func(d *devices, r *launch.Result) {
		if len(r.Traffic) != 3 || r.Traffic[2].Rank != 2 || r.Traffic[2].Notifies != 6 {
			t.Errorf("traffic %+v", r.Traffic)
		}
	})
}

// A stream may wait for a word that another stream, or a kernel, writes.
func TestStreamWords(t *testing.T) {
	everySeed(t, 2, func(d *devices) {
		d.on(0, copied(0, 3, 0, 5, 1), d.write(1, 2, 7))
		d.on(1, d.wait(1, 2, tl.GE, 7), copied(1, 0, 0, 3, 1), d.write(0, 3, -1))
		d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
			c.WaitUntil(flags.At(3), tl.LT, 0)
			c.Notify(flags.At(3), 0, tl.SignalSet, 9)
		}), d.wait(0, 3, tl.EQ, 9), copied(0, 0, 1, 0, 1))
	}, func(d *devices, r *launch.Result) {
		if a, b := d.vector(0)[0], d.vector(1)[0]; a != 5 || b != 5 {
			t.Errorf("copied %d and %d", a, b)
		}
	})
}

// Random schedules let streams overtake each other.
func TestStreamsOvertake(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(60) {
		d := newDevices(t, 2)
		d.on(0, copied(0, 0, 0, 1, 1), copied(0, 0, 0, 2, 1))
		d.on(1, copied(1, 0, 0, 0, 1))
		if _, err := d.run(seed); err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(d.vector(1)[0])] = true
	}
	if len(seen) != 3 {
		t.Errorf("the second stream saw %v, want each of 0, 1 and 2", seen)
	}
}

// Between the reading and the writing of a copy others may come: two that cross may swap.
func TestCopiesCross(t *testing.T) {
	seen := map[[2]int64]bool{}
	for seed := range uint64(60) {
		d := newDevices(t, 2)
		d.on(0, copied(1, 0, 0, 0, 1))
		d.on(1, copied(0, 0, 1, 0, 1))
		if _, err := d.run(seed); err != nil {
			t.Fatal(err)
		}
		seen[[2]int64{d.vector(0)[0], d.vector(1)[0]}] = true
	}
	if want := map[[2]int64]bool{{0, 0}: true, {100, 100}: true, {100, 0}: true}; !maps.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
}

// Programs that have ended hold no values.
func TestGridsLeaveNoValues(t *testing.T) {
	for seed := range uint64(3) {
		d := newDevices(t, 1)
		d.on(0, d.launch(0, 300, 4, func(c *tl.Context, flags tl.Signal) {
			x := c.Load(c.Ref(mem.At(mem.HBM, 0, 0), tl.Dims(16), dtype.I32))
			c.Store(c.Ref(mem.At(mem.HBM, 0, 0), tl.Dims(16), dtype.I32), c.Add(x, x))
		}))
		if _, err := d.run(seed); err != nil {
			t.Fatal(err)
		}
		if v := d.log.NewValue(); v > 20 {
			t.Errorf("the next value is number %d: some are still held", v)
		}
	}
}

func TestStalls(t *testing.T) {
	ring := func(c *tl.Context, flags tl.Signal) { // each program waits for the one after it
		p := c.ProgramID(0)
		if p < c.NumPrograms(0)-1 {
			c.WaitUntil(flags.At(0), tl.GE, int64(c.NumPrograms(0)-1-p))
		}
		c.Notify(flags.At(0), c.Rank(), tl.SignalAdd, 1)
	}
	tests := []struct {
		name  string
		batch func(d *devices)
		text  []string
		stuck int
	}{
		{"a grid that waits for programs that cannot start", func(d *devices) {
			d.on(0, d.launch(0, 4, 2, ring))
			d.on(1, copied(1, 0, 0, 0, 1))
		}, []string{
			"deadlock: 1 of 2 streams cannot go on",
			"try: the programs of work wait for some that cannot start before they end: launch at most 2 programs, or let 4 be resident (pe.programs is the most)",
			"grid of work on stream 0 of rank 0: 4 programs, 2 resident: 0 ended, 2 wait, 2 never started",
			"program 0 of 4 of work on stream 0 of rank 0 wait_until at mock/stream_test.go:",
			"program 1 of 4 of work on stream 0 of rank 0 wait_until",
			"waits for w.flags[0] >= 3, which is 0",
		}, 1},
		{"an event that is never recorded", func(d *devices) {
			e := &launch.Event{Name: "ready"}
			d.on(0, await(e), copied(0, 0, 1, 0, 1))
			d.on(1, d.wait(0, 1, tl.NE, 0), record(e))
		}, []string{
			"deadlock: 2 of 2 streams cannot go on",
			"stream 0 of rank 0 wait_event at host.go:3: waits for event ready",
			"stream 1 of rank 1 wait_value at host.go:5: waits for w.flags[1] of rank 0 != 0, which is 0",
		}, 2},
		{"events in a circle", func(d *devices) {
			a, b := &launch.Event{Name: "a"}, &launch.Event{Name: "b"}
			d.on(0, await(a), record(b))
			d.on(1, await(b), record(a))
		}, []string{"try: record every event on a stream that does not wait for the one that awaits it"}, 2},
		{"a group that is not complete", func(d *devices) {
			gang, e := &launch.Gang{Members: 2}, &launch.Event{Name: "done"}
			first, second := d.launch(0, 1, 1, ring), d.launch(1, 1, 1, ring)
			first.Launch.Gang, second.Launch.Gang = gang, gang
			d.on(0, first, record(e))
			d.on(1, await(e), second)
		}, []string{"stream 0 of rank 0 launch at host.go:6: waits for the other launches of its group: 1 of 2 have arrived"}, 2},
		{"no rank is left to notify a program", func(d *devices) {
			d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) { c.WaitUntil(flags.At(0), tl.EQ, 1) }))
		}, []string{"missing notification: no agent is left that could change w.flags[0], which rank 0 waits for in wait_until"}, 1},
		{"no rank is left to write", func(d *devices) {
			d.on(0, d.wait(0, 2, tl.EQ, 1))
			d.on(1, d.write(0, 2, 2))
		}, []string{
			"missing notification: no agent is left that could change w.flags[2], which rank 0 waits for in wait_value",
			"may have passed 1",
		}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(10) {
				d := newDevices(t, 2)
				tt.batch(d)
				_, err := d.run(seed)
				var stall *fault.Deadlock
				if !errors.As(err, &stall) || stall.Stuck != tt.stuck {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for _, text := range tt.text {
					if !strings.Contains(err.Error(), text) {
						t.Errorf("seed %d: %v\nlacks %q", seed, err, text)
					}
				}
			}
		})
	}
}

func TestStreamFaults(t *testing.T) {
	tests := []struct {
		name  string
		batch func(d *devices)
		want  string
	}{
		{"a freed window", func(d *devices) { d.on(0, d.write(0, 0, 1)); d.w.Released = true },
			"rank 0 write_value at host.go:4: window w was freed before"},
		{"no such peer", func(d *devices) { d.on(0, d.wait(2, 0, tl.EQ, 1)) }, "rank 0 wait_value at host.go:5: no peer 2"},
		{"no such word", func(d *devices) { d.on(0, d.write(0, 99, 1)) }, "out of bounds: word 99 of"},
		{"a copy of no memory", func(d *devices) { d.on(1, copied(1, 0, 0, 14, 3)) }, "rank 1 copy at host.go:1: bad address"},
		{"a copy of half an element", func(d *devices) {
			c := copied(1, 0, 0, 0, 1)
			c.Bytes = 6
			d.on(1, c)
		}, "stream 0 of rank 1, operation 0 (copy): found 1 rows of 6 bytes, want at least one row of a positive multiple of 4 bytes"},
		{"a fault of a program", func(d *devices) {
			d.on(1, d.launch(1, 2, 1, func(c *tl.Context, flags tl.Signal) { c.Notify(flags.At(4), 0, tl.SignalSet, 1) }))
		}, "rank 1 notify at mock/stream_test.go:"},
		{"a batch without a kernel", func(d *devices) { d.on(0, launch.StreamOp{Kind: launch.StreamLaunch}) },
			"stream 0 of rank 0, operation 0 (launch): no kernel"},
	}
	for _, tt := range tests {
		for seed := range uint64(3) {
			d := newDevices(t, 2)
			tt.batch(d)
			if _, err := d.run(seed); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, seed %d: %v, want %q", tt.name, seed, err, tt.want)
			}
		}
	}
}

func TestStreamsAreCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := newDevices(t, 1)
	d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
		for {
			c.FetchAdd(flags.At(0), 0, 1)
			cancel()
		}
	}))
	if _, err := mock.New(mock.Options{Data: d.log}).RunStreams(ctx, &d.b); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want it cancelled", err)
	}
}
