package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/tl"
)

// TestRecordAhead: what goes wrong in a kernel comes out the same whoever records it.
func TestRecordAhead(t *testing.T) {
	ring := func(steps int, at func(c *tl.Context, step int)) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			v := c.Load(a.Shard(c.Rank()))
			for i := range steps {
				at(c, i)
				c.Send(tl.East, v)
				v = c.Recv(tl.West, v.Shape(), v.DType())
			}
			c.Store(a.Shard(c.Rank()), v)
		}
	}
	for name, k := range map[string]tl.Kernel{
		"nothing": ring(400, func(*tl.Context, int) {}),
		"a panic": ring(400, func(c *tl.Context, i int) { panicAt(c.Rank() == 7 && i == 333) }),
		"no address": ring(400, func(c *tl.Context, i int) {
			if c.Rank() == 9 && i == 250 {
				c.Load(c.Ref(mem.At(mem.HBM, 9, 1<<40), tl.Dims(1), dtype.F16))
			}
		}),
		"a hang": ring(400, func(c *tl.Context, i int) {
			if c.Rank() == 11 && i == 200 {
				c.Recv(tl.West, tl.Dims(8), dtype.F16)
			}
		}),
		"unlike shapes": func(c *tl.Context, a tl.Args) {
			v := c.Load(a.Shard(c.Rank()))
			for i := range 400 {
				c.Send(tl.East, v)
				if c.Rank() == 3 && i == 390 {
					v = v.Slice(0, 4)
				}
				v = c.Recv(tl.West, v.Shape(), v.DType())
			}
		},
		"one left over": func(c *tl.Context, a tl.Args) {
			v := c.Load(a.Shard(c.Rank()))
			c.Send(tl.East, v)
			if c.Rank() > 0 {
				c.Recv(tl.West, v.Shape(), v.DType())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var said [2]string
			for i, ahead := range []bool{true, false} {
				b := newBench(t, k, setup{world: 80, n: 8})
				b.launch.Local, b.launch.Sends = true, []tl.Dir{tl.East}
				res, err := b.run(sim.Options{SecondCore: ahead})
				said[i], _, _ = strings.Cut(fmt.Sprint(err), "goroutine") // whose stack is another's
				if res != nil {
					said[i] = fmt.Sprint(res.End, res.Messages, res.Events, res.Traffic)
				}
			}
			if (name == "nothing") != !strings.Contains(said[0], ": ") {
				t.Errorf("said %s", said[0])
			}
			if said[0] != said[1] {
				t.Errorf("ahead: %s\nelse:  %s", said[0], said[1])
			}
		})
	}
}

// TestRecordAheadValues: the log is told the same, by one goroutine.
func TestRecordAheadValues(t *testing.T) {
	var got [2]string
	for i, ahead := range []bool{true, false} {
		b := libraryBench(t, algorithm.RingAllReduceChunked, setup{world: 96, n: 700, typ: dtype.I32})
		log := b.fill(t, func(r, i int) float64 { return float64(r*31 + i) })
		res, err := b.run(sim.Options{SecondCore: ahead, Data: log})
		if err != nil {
			t.Fatal(err)
		}
		got[i] = fmt.Sprint(res.End)
		for _, a := range b.launch.Groups[0].Args.Shards {
			data, prov, err := log.View(a, b.typ, b.n)
			if err != nil {
				t.Fatal(err)
			}
			got[i] += fmt.Sprint(data, prov)
		}
	}
	if got[0] != got[1] {
		t.Error("results differ")
	}
}

func panicAt(now bool) {
	if now {
		panic("here")
	}
}

// TestRecordAheadStops: a launch that is cancelled while kernels are recorded leaves no goroutine.
func TestRecordAheadStops(t *testing.T) {
	before := runtime.NumGoroutine()
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		for v := c.Load(a.Shard(c.Rank())); ; {
			c.Send(tl.East, v)
			v = c.Recv(tl.West, v.Shape(), v.DType())
		}
	}, setup{world: 70, n: 8})
	b.launch.Local = true
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sim.New(b.m, b.topo, sim.Options{SecondCore: true}).Launch(ctx, b.launch); err == nil {
		t.Fatal("it ended")
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestKernelThatExits: a kernel that ends its goroutine ends the one that launched it.
func TestKernelThatExits(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			if c.Rank() == 40 {
				runtime.Goexit()
			}
		}, setup{world: 80, n: 8})
		b.launch.Local = true
		returned := make(chan bool, 1)
		go func() {
			back := false
			defer func() { returned <- back }()
			_, _ = b.run(sim.Options{SecondCore: ahead})
			back = true
		}()
		if <-returned {
			t.Errorf("ahead %v: the launch returned", ahead)
		}
	}
}
