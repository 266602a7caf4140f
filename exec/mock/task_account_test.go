package mock_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"

	"github.com/google/go-cmp/cmp"
)

// The account of tasks and their queues: what orders them and what comes after them.
func TestAccountOfTasks(t *testing.T) {
	a := newRecording()
	d := newDevices(t, 1)
	d.engines()
	tell := d.task("tells", 1, func(c *tl.Context, flags tl.Signal) { c.Notify(flags.At(0), 0, tl.SignalAdd, 1) })
	d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
		c.Post(tell)
		c.Await(c.Post(tell))
	}))
	if _, err := mock.New(mock.Options{Data: d.log, History: a.log}).RunStreams(t.Context(), &d.b); err != nil {
		t.Fatal(err)
	}
	const (
		program = "rank 0 program 0"
		queue   = "queue 1 of the communication engine of rank 0"
		first   = "task 0 of " + queue
		second  = "task 1 of " + queue
	)
	want := []string{
		"stream 0 of rank 0: start host", "queue 0 of the communication engine of rank 0: start host", queue + ": start host",
		program + ": start stream 0 of rank 0",
		program + ": drain (post)", program + ": mark (post) event=0",
		queue + ": pass (post) event=0", first + ": start " + queue,
		program + ": drain (post)", program + ": mark (post) event=1",
		first + ": notify pe=0 hbm[0]:0x10010 int64 add 1",
		queue + ": join " + first, queue + ": mark (post) event=0",
		queue + ": pass (post) event=1", second + ": start " + queue,
		second + ": notify pe=0 hbm[0]:0x10010 int64 add 1",
		queue + ": join " + second, queue + ": mark (post) event=1",
		program + ": pass (wait) event=1",
		"stream 0 of rank 0: join " + program,
		"stream 0 of rank 0: pass (launch) event=1", // the last task of the queue: it comes after the others
		"host: join stream 0 of rank 0",
		"host: join queue 0 of the communication engine of rank 0", "host: join " + queue,
	}
	if d := cmp.Diff(want, a.text); d != "" {
		t.Error(d)
	}
}

// Each of several parallel collectives of tasks is separate for the data pass. Its data may still
// be in flight when another one begins.
func TestTurnsOfTasks(t *testing.T) {
	const ranks = 2
	everySeed(t, ranks, func(d *devices) {
		d.engines()
		for pe := range ranks {
			at := d.w.Addr(pe, 0)
			if err := d.log.Map(at, dtype.F32, 4); err != nil {
				t.Fatal(err)
			}
			data := make([]byte, 16)
			dtype.Set(dtype.F32, data, 0, float64(1+pe))
			dtype.Set(dtype.F32, data, 1, float64(10+pe))
			if err := d.log.Write(at, dtype.F32, data); err != nil {
				t.Fatal(err)
			}
			sum := func(id int) *tl.Task { // of element id-1, into element id+1
				return d.task("sum", id-1, func(c *tl.Context, flags tl.Signal) {
					data := c.Data(d.w, "data")
					in, out := data.Slice(id-1, 1), data.Slice(id+1, 1)
					tl.DriverOf(c).BeginTurn(&tl.Turn{
						ID: int32(id), World: ranks, Rank: pe, Label: 10*id + pe, In: []tl.Ref{c.Local(in)}, Out: []tl.Ref{c.Local(out)},
					})
					meet := func(round int64) {
						for peer := range ranks {
							c.Notify(flags.At(id), peer, tl.SignalAdd, 1)
						}
						c.WaitUntil(flags.At(id), tl.GE, round*ranks)
					}
					c.Store(c.Local(out), c.Load(c.Local(in)))
					meet(1)
					c.PutCombine(out, 1-pe, c.Local(in), tl.Sum)
					c.Quiet()
					meet(2)
					tl.DriverOf(c).EndTurn()
				})
			}
			d.on(pe, d.launch(pe, 1, 1, func(c *tl.Context, flags tl.Signal) {
				c.Post(sum(1))
				c.Post(sum(2))
			}))
		}
	}, func(d *devices, r *launch.Result) {
		turns, err := d.log.TakeTurns()
		if err != nil || len(turns) != 4 {
			t.Fatalf("%d turns, %v", len(turns), err)
		}
		for _, got := range turns {
			id, rank := int(got.Turn.ID), got.Turn.Rank
			h := d.log.Hasher()
			want := h.Merge(nil, h.Own(nil, 10*id, 0, 1), h.Own(nil, 10*id+1, 0, 1), 0)
			if !collective.Equal(got.Prov, want) {
				t.Errorf("turn %d of rank %d holds %v, want %v", id, rank, got.Prov, want)
			}
			in, out := dtype.At(dtype.F32, got.In, 0), dtype.At(dtype.F32, got.Out, 0)
			if wantIn := []float64{1, 10}[id-1] + float64(rank); in != wantIn || out != []float64{3, 21}[id-1] || !got.Ended {
				t.Errorf("turn %d of rank %d: from %v to %v", id, rank, in, out)
			}
		}
	})
}

// Turns take nothing where there is no data pass.
func TestTurnsWithoutData(t *testing.T) {
	d := newDevices(t, 1)
	d.engines()
	var done []string
	d.on(0, d.launch(0, 1, 1, func(c *tl.Context, flags tl.Signal) {
		for i := range 2 {
			tl.DriverOf(c).BeginTurn(&tl.Turn{
				ID: int32(i + 1), World: 1, In: []tl.Ref{c.Ref(mem.At(mem.HBM, 0, 0), tl.Dims(4), dtype.I32)},
			})
			tl.DriverOf(c).EndTurn()
			done = append(done, fmt.Sprint(i))
		}
	}))
	if _, err := mock.New(mock.Options{}).RunStreams(t.Context(), &d.b); err != nil || !slices.Equal(done, []string{"0", "1"}) {
		t.Errorf("%v, done: %v", err, done)
	}
}
