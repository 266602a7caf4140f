package mock_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/exec/mock"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/tl/launch"

	"github.com/google/go-cmp/cmp"
)

// recording is an account as text, without lines: a line of it for each record.
type recording struct {
	log  *history.Log
	text []string
	line func(history.Record)
}

func newRecording() *recording {
	a := &recording{}
	a.log = history.New(func(rs []history.Record) {
		for _, r := range rs {
			a.text = append(a.text, a.record(r))
			if a.line != nil {
				a.line(r)
			}
		}
	})
	return a
}

func (a *recording) record(r history.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %v", a.log.InfoIn(r.Agent, r.Task), r.Kind)
	field := func(show bool, format string, v ...any) {
		if show {
			fmt.Fprintf(&b, " "+format, v...)
		}
	}
	at := func(name string, r history.Range) {
		field(r.Bytes > 0, "%s=%v+%d", name, r.Addr, r.Bytes)
		field(r.Rows > 1, "rows=%d/%d", r.Rows, r.Pitch)
	}
	field(r.Kind == history.Start || r.Kind == history.Join, "%v", a.log.InfoIn(r.Other, r.Task))
	field(r.Call != "" && r.Call != r.Kind.String(), "(%s)", r.Call)
	field(r.Op > 0, "#%d", r.Op)
	field(r.Kind == history.Put || r.Kind == history.Get || r.Kind == history.Notify || r.Kind == history.RMW, "pe=%d", r.Peer)
	at("range", r.Range)
	at("source", r.Source)
	field(r.NBI, "nbi")
	field(r.Atomic, "atomic")
	field(r.Float, "float")
	field(r.Carry, "carried")
	field(r.Done == history.Source, "source")
	field(r.Word != 0, "%v %v", r.Word, r.Type)
	switch r.Kind {
	case history.Wait, history.Poll:
		field(true, "%v %d seen=%d", r.Cmp, r.Value, r.Seen)
	case history.Notify:
		field(true, "%v %d", r.Update, r.Value)
	case history.RMW:
		field(true, "%v %d seen=%d wrote=%v", r.Update, r.Value, r.Seen, r.Wrote)
	case history.Read:
		field(true, "seen=%d", r.Seen)
	case history.Send, history.Recv, history.Use, history.Credit:
		field(true, "ring=%d seq=%d slots=%d", r.Ring, r.Seq, r.Slots)
	case history.Mark, history.Pass:
		field(true, "event=%d", r.Ring)
	}
	return b.String()
}

// The account of each operation, as one rank gives it.
func TestAccount(t *testing.T) {
	tests := []struct {
		name   string
		kernel func(c *tl.Context, a tl.Args, w *mem.Window) // of rank 0
		want   string
	}{
		{"load, use, store", func(c *tl.Context, a tl.Args, w *mem.Window) {
			x := c.Load(a.Shard(0))
			y := c.Load(a.Shard(1).Slice(0, 2)) // never used
			c.Free(y)
			c.Store(c.At(c.Data(w, "data"), 1), c.Add(x, x))
			c.PipeBarrier()
		}, `
			load #1 range=hbm[0]:0x0+16
			load #2 range=hbm[1]:0x0+8
			complete (math) #1
			store #3 range=hbm[1]:0x1000+16
			drain (pipe_barrier)`},
		{"tiles", func(c *tl.Context, a tl.Args, w *mem.Window) {
			d := c.Desc(a.Shard(0), 2, 2, 2, 1)
			c.StoreTile(d, 0, 1, c.LoadTile(d, 0, 0))
		}, `
			load #1 range=hbm[0]:0x0+4 rows=2/8
			complete (store) #1
			store #2 range=hbm[0]:0x4+4 rows=2/8`},
		{"puts", func(c *tl.Context, a tl.Args, w *mem.Window) {
			data, flag := c.Data(w, "data"), c.Signals(w, "small").At(1)
			c.Put(data, 1, a.Shard(0))
			c.PutSignalNBI(data.Slice(1, 1), 1, a.Shard(0).Slice(2, 1), flag, tl.SignalAdd, -2)
			c.Fence()
			c.PutTensorCombine(data, 0, c.Load(a.Shard(0)), tl.Sum)
			c.Quiet()
		}, `
			put #1 pe=1 range=hbm[1]:0x1000+16 source=hbm[0]:0x0+16
			complete (put) #1 source
			put (put_signal_nbi) #2 pe=1 range=hbm[1]:0x1004+4 source=hbm[0]:0x8+4 nbi carried hbm[1]:0x1024 int32
			notify (put_signal_nbi) #2 pe=1 carried hbm[1]:0x1024 int32 add -2
			fence
			load #3 range=hbm[0]:0x0+16
			complete (put_combine) #3
			put (put_combine) #4 pe=0 range=hbm[0]:0x1000+16 atomic float
			complete (put_combine) #4 source
			quiet`},
		{"gets", func(c *tl.Context, a tl.Args, w *mem.Window) {
			c.Get(a.Shard(0), c.Data(w, "data"), 1)
			c.GetNBI(a.Shard(0), c.Data(w, "data"), 1)
		}, `
			get #1 pe=1 range=hbm[1]:0x1000+16 source=hbm[0]:0x0+16
			complete (get) #1
			get (get_nbi) #2 pe=1 range=hbm[1]:0x1000+16 source=hbm[0]:0x0+16 nbi`},
		{"words", func(c *tl.Context, a tl.Args, w *mem.Window) {
			f := c.Signals(w, "flags")
			c.Notify(f.At(1), 0, tl.SignalSet, 3)
			c.WaitUntil(f.At(0).Grid([]int{2}, []int{1}), tl.NE, 4)
			c.Test(f, tl.EQ, 0)
			c.Test(f.At(1), tl.GT, 2)
			c.LoadScalar(f.At(1))
			c.FetchAdd(f.At(1), 0, 5)
			c.CompareSwap(f.At(1), 0, 1, 2)
			c.CompareSwap(f.At(1), 0, 8, 2)
		}, `
			notify pe=0 hbm[0]:0x1018 int64 set 3
			wait (wait_until) hbm[0]:0x1010 int64 != 4 seen=0
			wait (wait_until) hbm[0]:0x1018 int64 != 4 seen=3
			poll (test) hbm[0]:0x1018 int64 == 0 seen=3
			wait (test) hbm[0]:0x1018 int64 > 2 seen=3
			read (load_scalar) hbm[0]:0x1018 int64 seen=3
			rmw (fetch_add) pe=0 hbm[0]:0x1018 int64 add 5 seen=3 wrote=true
			rmw (compare_swap) pe=0 hbm[0]:0x1018 int64 set 2 seen=8 wrote=false
			rmw (compare_swap) pe=0 hbm[0]:0x1018 int64 set 2 seen=8 wrote=true`},
		{"a composite", func(c *tl.Context, a tl.Args, w *mem.Window) {
			h := c.Composite(tl.Composite{A: a.Shard(0), Out: c.Local(c.Data(w, "data")), Epilogue: []tl.Epilogue{
				{Op: tl.EpilogueBias, Bias: c.Load(a.Shard(1))},
			}})
			c.Await(h)
		}, `
			load #1 range=hbm[1]:0x0+16
			complete (composite) #1
			load (composite) #2 range=hbm[0]:0x0+16
			store (composite) #2 range=hbm[0]:0x1000+16
			complete (wait) #2`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newRecording()
			a.line = func(r history.Record) {
				if r.Kind != history.Start && r.Kind != history.Join && !strings.Contains(r.Line, "mock/account_test.go:") {
					t.Errorf("%v at line %q", r.Kind, r.Line)
				}
			}
			kerneltest.Once(t, func(c *tl.Context, args tl.Args) {
				if c.Rank() == 0 {
					tt.kernel(c, args, args.Window(0))
				}
			}, kerneltest.Config{Inputs: vectors(2, 4), Layout: layout(t, 4, 2), History: a.log})
			want := []string{"rank 0: start host", "rank 1: start host"}
			for _, l := range strings.Split(strings.TrimSpace(tt.want), "\n") {
				want = append(want, "rank 0: "+strings.TrimSpace(l))
			}
			got := slices.DeleteFunc(a.text, func(l string) bool { return strings.HasPrefix(l, "host: join") })
			if len(a.text)-len(got) != 2 {
				t.Errorf("%d ranks join", len(a.text)-len(got))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The account of messages: slots, the agents that read them, and credits.
func TestAccountOfRings(t *testing.T) {
	a := newRecording()
	kerneltest.Once(t, func(c *tl.Context, args tl.Args) {
		mine := args.Shard(c.Rank())
		if c.Rank() == 0 {
			c.SendRef(tl.East, mine) // two messages, in one slot
			c.Send(tl.East, c.Full(tl.Dims(2), args.DType, 1))
			c.Send(tl.East, c.Full(tl.Dims(2), args.DType, 2))
			return
		}
		c.RecvTo(tl.West, mine)
		x := c.Recv(tl.West, tl.Dims(2), args.DType)
		c.Store(mine.Slice(0, 2), x)
		c.RecvAny(tl.Dims(2), args.DType)
	}, kerneltest.Config{Inputs: vectors(2, 4), Slots: 1, SlotBytes: 8, Topology: "ring_1d", History: a.log})
	want := []string{
		"rank 0: start host", "rank 1: start host",
		"rank 0: load (send) #1 range=hbm[0]:0x0+16",
		"rank 0: complete (send) #1",
		"rank 0: send #2 ring=0 seq=0 slots=1",
		"rank 1: recv ring=0 seq=0 slots=0",
		"rank 1: credit (recv) ring=0 seq=0 slots=0",
		"rank 0: send #2 ring=0 seq=1 slots=1",
		"rank 1: recv ring=0 seq=1 slots=0",
		"rank 1: credit (recv) ring=0 seq=1 slots=0",
		"rank 1: store (recv) #4 range=hbm[1]:0x0+16",
		"rank 1: complete (recv) #4",
		"rank 0: send #3 ring=0 seq=2 slots=1",
		"rank 1: recv ring=0 seq=2 slots=0",
		"rank 1: use (store) ring=0 seq=2 slots=0",
		"rank 1: store #6 range=hbm[1]:0x0+8",
		"rank 1: credit (recv) ring=0 seq=2 slots=0",
		"rank 0: send #5 ring=0 seq=3 slots=1",
		"host: join rank 0",
		"rank 1: any (recv)",
		"rank 1: recv ring=0 seq=3 slots=0",
		"rank 1: credit ring=0 seq=3 slots=0",
		"host: join rank 1",
	}
	if d := cmp.Diff(want, a.text); d != "" {
		t.Error(d)
	}
}

// The account of streams and their programs.
func TestAccountOfStreams(t *testing.T) {
	a := newRecording()
	d := newDevices(t, 2)
	e := &launch.Event{Name: "ready"}
	d.on(0, copied(1, 0, 0, 1, 2), record(e), d.write(1, 0, 5))
	d.on(1, await(&launch.Event{Name: "long ago", Happened: true}), await(e), d.wait(1, 0, tl.EQ, 5),
		d.launch(1, 2, 1, func(c *tl.Context, flags tl.Signal) {
			c.Notify(flags.At(1), 0, tl.SignalAdd, 1)
		}))
	if _, err := mock.New(mock.Options{Data: d.log, History: a.log}).RunStreams(t.Context(), &d.b); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"stream 0 of rank 0: start host", "stream 1 of rank 1: start host",
		"stream 0 of rank 0: copy #1 range=hbm[1]:0x0+8 source=hbm[0]:0x4+8",
		"stream 0 of rank 0: mark (record) event=0",
		"stream 0 of rank 0: notify (write_value) pe=1 hbm[1]:0x10010 int64 set 5",
		"host: join stream 0 of rank 0",
		"stream 1 of rank 1: pass (wait_event) event=0",
		"stream 1 of rank 1: wait (wait_value) hbm[1]:0x10010 int64 == 5 seen=5",
		"rank 1 program 0: start stream 1 of rank 1",
		"rank 1 program 0: notify pe=0 hbm[0]:0x10018 int64 add 1",
		"stream 1 of rank 1: join rank 1 program 0",
		"rank 1 program 1: start stream 1 of rank 1",
		"rank 1 program 1: notify pe=0 hbm[0]:0x10018 int64 add 1",
		"stream 1 of rank 1: join rank 1 program 1",
		"host: join stream 1 of rank 1",
	}
	if d := cmp.Diff(want, a.text); d != "" {
		t.Error(d)
	}
}

// A rank starts its operations before it ends, and every access is recorded once. Under every
// schedule an account has the same records of each agent that does not depend on it.
func TestAccountUnderSchedules(t *testing.T) {
	account := func(seed uint64) map[string][]string {
		a := newRecording()
		kerneltest.Once(t, func(c *tl.Context, args tl.Args) {
			w, mine := args.Window(0), args.Shard(c.Rank())
			data, flag := c.Data(w, "data"), c.Signals(w, "flags").At(0)
			next := (c.Rank() + 1) % c.WorldSize()
			c.PutSignal(data, next, mine, flag, tl.SignalSet, 1)
			c.WaitUntil(flag, tl.EQ, 1)
			x := c.Load(c.Local(data))
			c.GetNBI(mine, data, next)
			c.FetchAdd(c.Signals(w, "big").At(0), c.Rank(), 1)
			c.Send(tl.East, x)
			c.Quiet()
			c.Store(mine, c.Recv(tl.West, x.Shape(), x.DType()))
		}, kerneltest.Config{Inputs: vectors(3, 4), Layout: layout(t, 4, 1), History: a.log, Seed: seed})
		by := map[string][]string{}
		for _, l := range a.text {
			who, what, _ := strings.Cut(l, ": ")
			if i := strings.Index(what, "#"); i >= 0 { // the number of an access depends on the schedule
				j := strings.IndexByte(what[i:]+" ", ' ')
				what = what[:i] + what[min(len(what), i+j):]
			}
			if strings.HasPrefix(what, "join") || strings.HasPrefix(what, "send") || strings.HasPrefix(what, "credit") {
				continue // joins of the host, and what a ring does by itself
			}
			by[who] = append(by[who], what)
		}
		return by
	}
	want := account(0)
	if n := len(want["rank 1"]); n < 13 {
		t.Fatalf("rank 1 has %d records", n)
	}
	for seed := range uint64(40) {
		if d := cmp.Diff(want, account(seed)); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
	}
}
