package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// recorder is an executor that keeps what streams are to do instead of doing it.
type recorder struct {
	exec.Executor
	batches []*launch.Batch
	err     error
}

func (r *recorder) RunStreams(_ context.Context, b *launch.Batch) (*launch.Result, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	r.batches = append(r.batches, b)
	if r.err != nil {
		return nil, r.err
	}
	for _, s := range b.Streams {
		for _, op := range s.Ops {
			if op.Kind == launch.StreamRecord {
				op.Event.Happened = true
			}
		}
	}
	return &launch.Result{End: unit.Nanosecond}, nil
}

// record makes a context that runs launches on the mock and keeps what streams are to do.
func record(t testing.TB, sets ...string) (*device.Context, *recorder) {
	t.Helper()
	log := oplog.New(oplog.Options{Inline: true})
	t.Cleanup(log.Close)
	r := &recorder{Executor: mock.New(mock.Options{Data: log})}
	topo, ccl, err := conf.SplitSets(sets)
	if err != nil {
		t.Fatal(err)
	}
	return openOn(t, r, topo, ccl), r
}

// tell prints a batch, one operation to a line.
func tell(b *launch.Batch) string {
	var out strings.Builder
	for _, s := range b.Streams {
		fmt.Fprintf(&out, "stream %d of rank %d, PE %d\n", s.ID, s.Rank, s.PE)
		for _, op := range s.Ops {
			fmt.Fprintf(&out, "  %v %s:", op.Kind, op.HostName)
			switch op.Kind {
			case launch.StreamCopy:
				fmt.Fprintf(&out, " %v from %v, %d × %d bytes, pitch %d from %d, %v", op.Dst, op.Src, op.Rows,
					op.Bytes, op.DstPitch, op.SrcPitch, op.Type)
			case launch.StreamLaunch:
				l := op.Launch
				fmt.Fprintf(&out, " %s, %d programs, %d resident, rank %d of %d, %v, shards %v, gang %v", l.Name,
					l.Grid, l.Resident, l.Rank, l.World, l.Args.Ints, l.Args.Shards, l.Gang != nil)
			case launch.StreamRecord, launch.StreamAwait:
				fmt.Fprintf(&out, " %s", op.Event.Name)
			default:
				fmt.Fprintf(&out, " word %d of rank %d, %v %d", op.Word, op.Peer, op.Cmp, op.Value)
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

func idle(*tl.Context, tl.Args) {}

// The operations that a program queues reach the executor, in order, with their source lines.
func TestStreamsBecomeABatch(t *testing.T) {
	c, rec := record(t)
	team := must(c.NewTeam("pair", []int32{5, 0}))(t)
	w := must(c.NewWindow("box", team, 0, mailbox(8)...))(t)
	x := must(c.Zeros(6, 4, dtype.F32, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1, NumPEs: 2}))(t).Named("x") // 6 × 2 each
	a, b := must(c.NewStream(5))(t), must(c.NewStream(0))(t)
	side := must(c.NewStream(5))(t)

	ready := must(a.Record("ready"))(t)
	box := device.InWindow(w, 0, "data")
	steps := []error{
		a.Copy(box, x.On(0).Rows(1, 4)),                          // whole rows: one piece
		a.Copy(box.Slice(2, 4), x.On(1).Rows(2, 4).Cols(1, 1)),   // a column
		a.Copy(x.On(1).Cols(0, 1), box.Matrix(2, 4).Slice(1, 6)), // into a column
		b.Copy(x.On(0).Rows(0, 3).Cols(1, 1), x.On(1).Cols(0, 1).Rows(3, 3)),
		b.Copy(x.On(0).Rows(0, 0), x.On(1).Rows(6, 0)), // nothing
		b.WaitEvent(ready),
		side.Launch("alone", idle, device.Grid{Programs: 3, Resident: 2}, x, 7),
		c.LaunchGroup("group", []*device.Stream{b, a}, idle, device.Grid{Programs: 1, Team: team}, [][]any{{x, 1}, {w, 2}}),
		a.WriteValue(w, 1, "ready", 3, -1),
		b.WaitValue(w, 0, "ready", 2, tl.GE, 4),
		b.Join(side),
		b.Join(b),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	if err := c.Synchronize(context.Background()); err != nil {
		t.Fatal(err)
	}
	sx := x.Shards()
	want := fmt.Sprintf(`stream 0 of rank 0, PE 5
  record ready: ready
  copy x.sip0.cube0.pe0 to box.data: %[1]v from %[2]v, 1 × 32 bytes, pitch 32 from 32, f32
  copy x.sip0.cube0.pe1 to box.data: %[3]v from %[4]v, 4 × 4 bytes, pitch 4 from 8, f32
  copy box.data to x.sip0.cube0.pe1: %[5]v from %[6]v, 6 × 4 bytes, pitch 8 from 4, f32
  launch group: group, 1 programs, 8 resident, rank 0 of 2, [2], shards [], gang true
  write_value box.ready[3]: word 3 of rank 1, == -1
stream 1 of rank 1, PE 0
  copy x.sip0.cube0.pe1 to x.sip0.cube0.pe0: %[7]v from %[8]v, 3 × 4 bytes, pitch 8 from 8, f32
  wait_event ready: ready
  launch group: group, 1 programs, 8 resident, rank 1 of 2, [1], shards [va:0x0 %[9]v], gang true
  wait_value box.ready[2]: word 2 of rank 0, >= 4
  wait_event all of stream 2: all of stream 2
stream 2 of rank 0, PE 5
  launch alone: alone, 3 programs, 2 resident, rank 0 of 2, [7], shards [va:0x0 %[9]v], gang false
  record all of stream 2: all of stream 2
`,
		w.Addr(0, 0), sx[0].Addr+8, w.Addr(0, 8), sx[1].Addr+20, sx[1].Addr, w.Addr(0, 4), sx[0].Addr+4, sx[1].Addr+24, sx[0].VA)
	if got := tell(rec.batches[0]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, s := range rec.batches[0].Streams {
		for _, op := range s.Ops {
			if !strings.HasPrefix(op.Line, "device/stream_test.go:") {
				t.Errorf("%v is at %q", op.Kind, op.Line)
			}
		}
	}
	runs := c.Launches()
	if len(runs) != 1 || runs[0].World != 2 || runs[0].Result.End != unit.Nanosecond || runs[0].Name != "streams" {
		t.Errorf("launches: %+v", runs)
	}
	if err := c.Synchronize(context.Background()); err != nil || len(rec.batches) != 1 || len(c.Launches()) != 1 {
		t.Errorf("nothing was queued: %v, %d batches", err, len(rec.batches))
	}
	if g, h := rec.batches[0].Streams[0].Ops[4].Launch.Gang, rec.batches[0].Streams[1].Ops[2].Launch.Gang; g != h || g.Members != 2 {
		t.Errorf("gangs %v and %v", g, h)
	}
}

// Programs that can be on a PE at the same time share its scratch memory.
func TestScratchIsShared(t *testing.T) {
	c, rec := record(t, "pe.tcm.scratch=1MiB", "pe.programs=4", "defaults.backpressure=poll")
	a, b, other := must(c.NewStream(0))(t), must(c.NewStream(0))(t), must(c.NewStream(1))(t)
	steps := []error{
		a.Launch("k", idle, device.Grid{Programs: 100}), a.Launch("k", idle, device.Grid{Programs: 2}),
		b.Launch("k", idle, device.Grid{Programs: 9, Resident: 1}),
		other.Launch("k", idle, device.Grid{Programs: 3}),
		c.Synchronize(context.Background()),
		other.Launch("k", idle, device.Grid{Programs: 1}),
		c.Synchronize(context.Background()),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	for i, want := range []unit.Bytes{1 << 20 / 5, 1 << 20} {
		if got := rec.batches[i].Scratch; got != want {
			t.Errorf("batch %d: %v for a program, want %v", i, got, want)
		}
	}
	if b := rec.batches[0]; !b.Poll || b.PollEvery <= 0 || b.WakeCost <= 0 {
		t.Errorf("waits: %+v", b)
	}
}

func TestStreamsRefuse(t *testing.T) {
	type host struct {
		c    *device.Context
		team *mem.Team
		w    *mem.Window
		x, y *device.Tensor // 4 × 4 on each of 4 PEs, and as vectors of 16
		s, o *device.Stream
	}
	outside := func(unit string) func(error) bool {
		return func(err error) bool {
			out, ok := errors.AsType[*fault.OutOfBounds](err)
			return ok && out.Unit == unit && strings.HasPrefix(out.Line, "device/stream_test.go:")
		}
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	tests := []struct {
		name string
		do   func(h *host) error
		is   func(error) bool
		text string
	}{
		{"a PE that is not there", func(h *host) error { _, err := h.c.NewStream(16); return err }, is(device.ErrStream), "no PE 16"},
		{"a negative PE", func(h *host) error { _, err := h.c.NewStream(-1); return err }, is(device.ErrStream), "no PE -1"},
		{"a stream that was freed", func(h *host) error { _ = h.s.Free(); return h.s.Copy(h.x.On(0), h.x.On(1)) },
			is(device.ErrStream), "freed before"},
		{"a stream that is freed twice", func(h *host) error { _ = h.s.Free(); return h.s.Free() }, is(device.ErrStream), "freed before"},
		{"no stream", func(h *host) error { var s *device.Stream; _, err := s.Record("e"); return err }, is(device.ErrStream), "no stream"},

		{"copy of no memory", func(h *host) error { return h.s.Copy(device.Memory{}, h.x.On(1)) }, is(device.ErrShape), "no memory"},
		{"copy to a PE without a shard", func(h *host) error { return h.s.Copy(h.x.On(4), h.x.On(1)) },
			is(device.ErrShape), "no shard on PE 4"},
		{"copy of no tensor", func(h *host) error { var x *device.Tensor; return h.s.Copy(x.On(0), h.x.On(1)) },
			is(device.ErrLaunch), "no tensor"},
		{"copy of a tensor on the host", func(h *host) error {
			x, _ := h.c.FromSlice(ramp(16), 4, 4, dtype.F32)
			return h.s.Copy(h.x.On(0), x.On(0))
		}, is(device.ErrHost), "host"},
		{"copy to a freed tensor", func(h *host) error {
			m := h.x.On(0)
			_ = h.x.Free()
			return h.s.Copy(m,
				h.y.On(0))
		}, is(device.ErrFreed), ""},
		{"copy of another type", func(h *host) error {
			z, _ := h.c.EmptyRanks(1, 16, dtype.I32)
			return h.s.Copy(h.x.On(1), z.On(0))
		}, is(device.ErrShape), "x.sip0.cube0.pe1 of 4 × 4 f32 from"},
		{"copy of another number", func(h *host) error { return h.s.Copy(h.x.On(1), h.y.On(0).Slice(0, 15)) },
			is(device.ErrShape), "1 × 15 f32"},
		{"copy of rows to other rows", func(h *host) error {
			return h.s.Copy(h.x.On(1).Cols(0, 2),
				h.x.On(0).Cols(0, 1))
		}, is(device.ErrShape), "4 × 1 f32"},
		{"copy between unlike matrices", func(h *host) error {
			return h.s.Copy(h.x.On(1).Cols(0, 2), h.y.On(0).Matrix(2, 8).Cols(0, 4))
		}, is(device.ErrShape), "neither is contiguous, so their shapes must agree"},
		{"copy onto itself", func(h *host) error { return h.s.Copy(h.x.On(0).Rows(1, 2), h.x.On(0).Rows(2, 2)) },
			is(device.ErrShape), "share elements"},
		{"copy to control words", func(h *host) error {
			return h.s.Copy(device.InWindow(h.w, 0, "ready"),
				h.x.On(0))
		}, is(device.ErrWindow), "control words"},
		{"copy to a part that is not there", func(h *host) error {
			return h.s.Copy(device.InWindow(h.w, 0, "dat"),
				h.x.On(0))
		}, is(device.ErrWindow), `no part "dat"`},
		{"copy to a member that is not there", func(h *host) error { return h.s.Copy(device.InWindow(h.w, 2, "data"), h.x.On(0)) },
			func(err error) bool { return errors.As(err, new(*fault.NotMember)) }, "no peer 2"},
		{"copy to a window that was freed", func(h *host) error {
			m := device.InWindow(h.w, 0, "data")
			_ = h.c.FreeWindow(h.w)
			return h.s.Copy(m, h.y.On(0))
		}, func(err error) bool { return errors.As(err, new(*fault.Released)) }, "box was freed"},
		{"copy to no window", func(h *host) error { return h.s.Copy(device.InWindow(nil, 0, "data"), h.x.On(0)) },
			is(device.ErrWindow), "no window"},
		{"rows that are not there", func(h *host) error {
			return h.s.Copy(h.x.On(0).Rows(3, 2),
				h.x.On(1).Rows(0, 2))
		}, outside("row"), "rows 3 to 4 of x.sip0.cube0.pe0, which has 0 to 3"},
		{"a negative number of rows", func(h *host) error {
			return h.s.Copy(h.x.On(0).Rows(3, -1),
				h.x.On(1).Rows(3, -1))
		}, outside("row"), ""},
		{"columns that are not there", func(h *host) error {
			return h.s.Copy(h.x.On(0).Cols(-1, 2),
				h.x.On(1).Cols(0, 2))
		}, outside("column"), ""},
		{"elements that are not there", func(h *host) error {
			return h.s.Copy(device.InWindow(h.w, 1, "data").Slice(1,
				16), h.x.On(1))
		}, outside("element"), "box.data"},
		{"a matrix of another size", func(h *host) error { return h.s.Copy(h.y.On(0).Matrix(3, 5), h.x.On(1)) },
			is(device.ErrShape), "as 3 × 5"},
		{"a matrix too large to count", func(h *host) error {
			return h.s.Copy(h.y.On(0).Matrix(1<<32+1, 1<<32),
				h.x.On(1))
		}, is(device.ErrShape), ""},
		{"a slice of rows that lie apart", func(h *host) error {
			return h.s.Copy(h.x.On(0).Cols(0, 2).Slice(0, 2),
				h.x.On(1).Slice(0, 2))
		}, is(device.ErrShape), "not contiguous"},

		{"launch of no kernel", func(h *host) error { return h.s.Launch("k", nil, device.Grid{Programs: 1}) },
			is(device.ErrLaunch), "no kernel"},
		{"launch of no programs", func(h *host) error { return h.s.Launch("k", idle, device.Grid{}) }, is(device.ErrLaunch), "0 programs"},
		{"more resident than a PE holds", func(h *host) error {
			return h.s.Launch("k", idle,
				device.Grid{Programs: 9, Resident: 9})
		}, is(device.ErrLaunch), "9 resident programs: a PE holds 1 to 8"},
		{"fewer than none resident", func(h *host) error {
			return h.s.Launch("k", idle,
				device.Grid{Programs: 9, Resident: -1})
		}, is(device.ErrLaunch), "-1 resident"},
		{"launch with a string", func(h *host) error { return h.s.Launch("k", idle, device.Grid{Programs: 1}, "x") },
			is(device.ErrLaunch), "argument 1: launch refused: a string"},
		{"launch for another team", func(h *host) error {
			other, _ := h.c.NewTeam("other", []int32{2})
			return h.s.Launch("k", idle, device.Grid{Programs: 1, Team: other})
		}, is(device.ErrTeam), "not a member of team other"},
		{"launch for a team that was freed", func(h *host) error {
			_, _ = h.c.FreeWindow(h.w), h.c.FreeTeam(h.team)
			return h.s.Launch("k", idle, device.Grid{Programs: 1, Team: h.team})
		}, is(device.ErrTeam), "freed before"},

		{"a group without members", func(h *host) error {
			return h.c.LaunchGroup("g", nil, idle,
				device.Grid{Programs: 1}, nil)
		}, is(device.ErrStream), "no members"},
		{"a group with a stream twice", func(h *host) error {
			return h.c.LaunchGroup("g", []*device.Stream{h.s, h.o, h.s}, idle, device.Grid{Programs: 1}, nil)
		}, is(device.ErrStream), "members 0 and 2 are both on sip0.cube0.pe0"},
		{"a group with arguments for fewer", func(h *host) error {
			return h.c.LaunchGroup("g", []*device.Stream{h.s, h.o}, idle, device.Grid{Programs: 1}, [][]any{{}})
		}, is(device.ErrStream), "2 members and arguments for 1"},
		{"a group with no stream", func(h *host) error {
			return h.c.LaunchGroup("g", []*device.Stream{h.s, nil}, idle, device.Grid{Programs: 1}, nil)
		}, is(device.ErrStream), "member 1: stream refused: no stream"},
		{"a group with one bad argument", func(h *host) error {
			return h.c.LaunchGroup("g", []*device.Stream{h.s, h.o}, idle, device.Grid{Programs: 1}, [][]any{{h.x}, {1.5}})
		}, is(device.ErrLaunch), "member 1: launch g: argument 1"},

		{"waiting for no event", func(h *host) error { return h.s.WaitEvent(nil) }, is(device.ErrStream), "no event"},
		{"joining no stream", func(h *host) error { return h.s.Join(nil) }, is(device.ErrStream), "no stream"},
		{"waiting in an unknown way", func(h *host) error { return h.s.WaitValue(h.w, 0, "ready", 0, 9, 1) },
			is(device.ErrStream), "Cmp(9)"},
		{"waiting for data", func(h *host) error { return h.s.WaitValue(h.w, 0, "data", 0, tl.EQ, 1) }, is(device.ErrWindow), "holds data"},
		{"writing beyond the words", func(h *host) error { return h.s.WriteValue(h.w, 0, "ready", 16, 1) }, outside("word"), "word 16 of"},
		{"writing what does not fit", func(h *host) error { return h.s.WriteValue(h.w, 0, "ready", 0, 1<<31) },
			is(device.ErrWindow), "does not fit"},
		{"writing to a window that was freed",
			func(h *host) error { _ = h.c.FreeWindow(h.w); return h.s.WriteValue(h.w, 0, "ready", 0, 1) },
			func(err error) bool { return errors.As(err, new(*fault.Released)) }, "write_value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, rec := record(t)
			h := &host{c: c, team: must(c.NewTeam("pair", []int32{1, 0}))(t)}
			h.w = must(c.NewWindow("box", h.team, 0, mailbox(16)...))(t)
			h.x = must(c.Empty(4, 16, dtype.F32, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t).Named("x")
			h.y = must(c.EmptyRanks(4, 16, dtype.F32))(t).Named("y")
			h.s, h.o = must(c.NewStream(0))(t), must(c.NewStream(1))(t)
			err := tt.do(h)
			if err == nil || !tt.is(err) || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %q", err, tt.text)
			}
			if err := c.Synchronize(context.Background()); err != nil || len(rec.batches) > 0 {
				t.Fatalf("something was queued: %v", err)
			}
		})
	}
}

func TestForeignStreams(t *testing.T) {
	a, _ := record(t)
	b, _ := record(t)
	s, o := must(a.NewStream(0))(t), must(b.NewStream(0))(t)
	e := must(o.Record("e"))(t)
	team := must(b.NewTeam("t", []int32{0}))(t)
	w := must(b.NewWindow("w", team, 0, mailbox(4)...))(t)
	x, y := must(a.EmptyRanks(1, 4, dtype.F32))(t), must(b.EmptyRanks(1, 4, dtype.F32))(t)
	for i, err := range []error{
		s.WaitEvent(e), s.Join(o), s.Copy(x.On(0), y.On(0)), s.Copy(device.InWindow(w, 0, "data"), x.On(0)),
		s.WriteValue(w, 0, "ready", 0, 1), a.LaunchGroup("g", []*device.Stream{s, o}, idle, device.Grid{Programs: 1}, nil),
		s.Launch("k", idle, device.Grid{Programs: 1, Team: team}), s.Launch("k", idle, device.Grid{Programs: 1}, w),
	} {
		if !errors.Is(err, device.ErrForeign) {
			t.Errorf("case %d: %v", i, err)
		}
	}
}

// Until Synchronize no other work touches what queued work uses, and nothing else is launched.
func TestQueuedWorkIsLeftAlone(t *testing.T) {
	ctx := context.Background()
	c, _ := record(t)
	team := must(c.NewTeam("pair", []int32{1, 0}))(t)
	w := must(c.NewWindow("box", team, 0, mailbox(4)...))(t)
	x, y := must(c.Zeros(1, 16, dtype.F32, columns))(t), must(c.Zeros(1, 16, dtype.F32, columns))(t)
	v, u := must(c.NewWindow("flags", team, 0, mailbox(4)...))(t), must(c.NewWindow("more", team, 0, mailbox(4)...))(t)
	z := must(c.Zeros(1, 16, dtype.F32, columns))(t)
	s := must(c.NewStream(0))(t)
	if err := errors.Join(
		s.Launch("k", idle, device.Grid{Programs: 1}, z, u), s.Copy(device.InWindow(w, 0, "data").Slice(0, 2), x.On(1)),
		s.Launch("k", idle, device.Grid{Programs: 1, Team: team}), s.WaitValue(v, 0, "ready", 0, tl.EQ, 0),
	); err != nil {
		t.Fatal(err)
	}
	var into *device.Tensor
	touch := func() []error {
		_, read := x.Read()
		_, data := c.ReadWindow(w, 0, "data", 0, 1)
		_, words := c.ReadWords(w, 0, "ready", 0, 1)
		_, kernel := c.LaunchKernel(ctx, "k", idle, y)
		_, plan := c.Launch(ctx, "device_test_broadcast", y, device.Into(into))
		return []error{
			x.CopyIn(ramp(16)), read, data, words, c.CopyToWindow(w, 0, "data", 0, ramp(1)), c.SetWords(w, 0, "ready", 0, 1), kernel, plan,
			s.Free(), c.FreeWindow(w), c.FreeWindow(v), c.FreeWindow(u), c.FreeTeam(team), x.Free(), z.Free(),
		}
	}
	installed(t, c, "device_test_broadcast", 8)
	into = must(c.Zeros(1, 16, dtype.F32, columns))(t)
	for i, err := range touch() {
		if !errors.Is(err, device.ErrQueued) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if err := y.CopyIn(ramp(16)); err != nil {
		t.Errorf("what is not used: %v", err)
	}
	if _, err := into.Read(); err != nil {
		t.Errorf("what a refused call was to write: %v", err)
	}
	if err := c.Synchronize(ctx); err != nil {
		t.Fatal(err)
	}
	for i, err := range touch() {
		if err != nil {
			t.Errorf("afterwards, case %d: %v", i, err)
		}
	}
}

// An event may be waited for in a later batch, but not when the work before it failed.
func TestEventsOutliveTheirBatch(t *testing.T) {
	ctx := context.Background()
	c, rec := record(t)
	a, b := must(c.NewStream(0))(t), must(c.NewStream(1))(t)
	past := must(a.Record("past"))(t)
	if err := errors.Join(c.Synchronize(ctx), b.WaitEvent(past), b.Join(a), c.Synchronize(ctx)); err != nil {
		t.Fatal(err)
	}
	if len(rec.batches) != 1 {
		t.Errorf("an event that has happened is waited for: %s", tell(rec.batches[1]))
	}
	lost := must(a.Record("lost"))(t)
	rec.err = &fault.Deadlock{}
	if err := c.Synchronize(ctx); !errors.As(err, new(*fault.Deadlock)) {
		t.Fatalf("got %v", err)
	}
	if n := len(c.Launches()); n != 1 {
		t.Errorf("%d launches ended well", n)
	}
	rec.err = nil
	if err := b.WaitEvent(lost); !errors.Is(err, device.ErrStream) || !strings.Contains(err.Error(), `"lost" will not happen`) {
		t.Errorf("got %v", err)
	}
	if err := c.Synchronize(ctx); err != nil || len(rec.batches) != 2 {
		t.Errorf("what failed is still queued: %v, %d batches", err, len(rec.batches))
	}
}

func TestStreamsLeak(t *testing.T) {
	c, _ := record(t)
	must(c.NewStream(3))(t)
	gone := must(c.NewStream(3))(t)
	s := must(c.NewStream(9))(t)
	x := must(c.Zeros(1, 4, dtype.F32, device.DPPolicy{NumCubes: 1, NumPEs: 1}))(t).Named("x")
	must(s.Record("e"))(t)
	if err := errors.Join(gone.Free(), s.Launch("k", idle, device.Grid{Programs: 1}, x)); err != nil {
		t.Fatal(err)
	}
	leaks := must(c.ReleaseAll())(t)
	if got, want := fmt.Sprint(leaks),
		"[{x 16 B} {stream 0 on sip0.cube0.pe3 0 B} {stream 2 on sip1.cube0.pe1, with 2 operations that never ran 0 B}]"; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if err := s.Free(); !errors.Is(err, device.ErrStream) {
		t.Errorf("a stream outlives ReleaseAll: %v", err)
	}
}

// Random pieces of one shard: a copy is refused exactly when they share an element or have no shape
// in common. Otherwise its rows are those elements in their order.
func TestCopiesAgainstModel(t *testing.T) {
	c, rec := record(t)
	const rows, cols = 6, 5
	x := must(c.Empty(rows, cols, dtype.F32, device.DPPolicy{NumCubes: 1, NumPEs: 1}))(t)
	base := x.Shards()[0].Addr
	s := must(c.NewStream(0))(t)
	type piece struct {
		m        device.Memory
		elements []int // of the shard
		r, c     int
		apart    bool
	}
	cut := func(row, r, col, c int) piece {
		p := piece{r: r, c: c, apart: r > 1 && c < cols, m: x.On(0).Rows(row, r).Cols(col, c)}
		for i := range r {
			for k := range c {
				p.elements = append(p.elements, (row+i)*cols+col+k)
			}
		}
		return p
	}
	draw := func(t *rapid.T, what string) piece {
		r, cc := rapid.IntRange(0, rows).Draw(t, what+" row"), rapid.IntRange(0, cols).Draw(t, what+" col")
		p := cut(r, rapid.IntRange(0, rows-r).Draw(t, what+" rows"), cc, rapid.IntRange(0, cols-cc).Draw(t, what+" cols"))
		if rapid.Bool().Draw(t, what+" columns first") {
			p.m = x.On(0).Cols(cc, p.c).Rows(r, p.r)
		}
		return p
	}
	for _, p := range [][2]piece{{cut(0, 2, 0, cols), cut(2, 2, 0, cols)}, {cut(0, 2, 0, 2), cut(0, 2, 2, 2)}} { // neighbours
		if err := errors.Join(s.Copy(p[0].m, p[1].m), s.Copy(p[1].m, p[0].m), c.Synchronize(context.Background())); err != nil {
			t.Error(err)
		}
	}
	like := func(t *rapid.T, p piece) piece { // of the same shape, elsewhere
		r, cc := rapid.IntRange(0, rows-p.r).Draw(t, "row"), rapid.IntRange(0, cols-p.c).Draw(t, "col")
		return cut(r, p.r, cc, p.c)
	}
	rapid.Check(t, func(t *rapid.T) {
		dst, src := draw(t, "dst"), draw(t, "src")
		if rapid.Bool().Draw(t, "alike") {
			src = like(t, dst)
		}
		err := s.Copy(dst.m, src.m)
		shared := slices.ContainsFunc(dst.elements, func(e int) bool { return slices.Contains(src.elements, e) })
		unlike := dst.apart && src.apart && (dst.r != src.r || dst.c != src.c)
		refused := len(dst.elements) != len(src.elements) || len(dst.elements) > 0 && (shared || unlike)
		if refused != (err != nil) {
			t.Fatalf("%v from %v: %v", dst.m, src.m, err)
		}
		rec.batches = nil
		if err := c.Synchronize(context.Background()); err != nil {
			t.Fatal(err)
		}
		if refused || len(dst.elements) == 0 {
			if len(rec.batches) > 0 {
				t.Fatal("it was queued")
			}
			return
		}
		op := rec.batches[0].Streams[0].Ops[0]
		var to, from []int
		for row := range op.Rows {
			for k := range op.Bytes / 4 {
				to = append(to, (int(op.Dst-base)+row*int(op.DstPitch))/4+int(k))
				from = append(from, (int(op.Src-base)+row*int(op.SrcPitch))/4+int(k))
			}
		}
		if !slices.Equal(to, dst.elements) || !slices.Equal(from, src.elements) {
			t.Fatalf("%v from %v: elements %v from %v", dst.m, src.m, to, from)
		}
	})
}
