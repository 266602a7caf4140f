package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/tl"
	"kernbench/unit"
)

// TestShared: ranks that are alike come to the same, right or wrong, when one is recorded for all.
func TestShared(t *testing.T) {
	ring := func(steps int, at func(c *tl.Context, step int, v tl.Tensor)) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			v := c.Load(a.Shard(c.Rank()))
			for i := range steps {
				at(c, i, v)
				c.Send(tl.East, v)
				v = c.Recv(tl.West, v.Shape(), v.DType())
			}
			c.Store(a.Shard(c.Rank()), v)
		}
	}
	for name, k := range map[string]tl.Kernel{
		"nothing":     ring(400, func(*tl.Context, int, tl.Tensor) {}),
		"a panic":     ring(400, func(_ *tl.Context, i int, _ tl.Tensor) { panicAt(i == 333) }),
		"a hang":      ring(40, func(c *tl.Context, i int, v tl.Tensor) { receiveAt(c, i == 30, v) }),
		"full rings":  ring(40, func(c *tl.Context, i int, v tl.Tensor) { sendAt(c, i == 20, v) }),
		"unlike":      ring(40, func(c *tl.Context, i int, v tl.Tensor) { receiveShort(c, i == 20, v) }),
		"left over":   ring(40, func(c *tl.Context, i int, v tl.Tensor) { sendMore(c, i == 39, v) }),
		"free tensor": ring(40, func(c *tl.Context, i int, v tl.Tensor) { useFreed(c, i == 33, v) }),
	} {
		t.Run(name, func(t *testing.T) {
			for _, fidelity := range []noc.Fidelity{noc.Slot, noc.Ideal} {
				said := map[string]string{}
				for _, how := range []string{"alone", "alike", "two sides"} {
					b := newBench(t, k, setup{world: 70, n: 8})
					b.launch.Local, b.launch.Sends, b.launch.Alike = true, []tl.Dir{tl.East}, how != "alone"
					res, err := b.run(sim.Options{Fidelity: fidelity, SecondCore: how == "two sides"})
					said[how], _, _ = strings.Cut(fmt.Sprint(err), "goroutine") // whose stack is another's
					if res != nil {
						said[how] = fmt.Sprint(res.End, res.Messages, res.Bytes, res.Events, res.Traffic)
					}
				}
				if (name == "nothing") != !strings.Contains(said["alone"], ": ") {
					t.Errorf("said %s", said["alone"])
				}
				if said["alike"] != said["alone"] || said["two sides"] != said["alone"] {
					t.Errorf("fidelity %v: %v", fidelity, said)
				}
			}
		})
	}
}

// TestFaultsAtOnceOnTwoSides: of two faults at one instant that of the lower rank comes out, though the other side has long
// come to its own.
func TestFaultsAtOnceOnTwoSides(t *testing.T) {
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		v := c.Load(a.Shard(c.Rank()))
		if c.Rank() < 10 {
			for range 10_000 {
				c.Free(c.Add(v, v))
			}
		}
		panicAt(c.Rank() == 10 || c.Rank() == 40)
	}, setup{world: 70, n: 8})
	b.launch.Local, b.launch.Sends = true, []tl.Dir{tl.East}
	if _, err := b.run(sim.Options{Fidelity: noc.Ideal, SecondCore: true}); err == nil || !strings.HasPrefix(err.Error(), "rank 10 ") {
		t.Errorf("said %v", err)
	}
}

// TestPayloadsOfTwoSides: what is on its way when nobody can go on is told of both sides.
func TestPayloadsOfTwoSides(t *testing.T) {
	var said [2]string
	for i := range said {
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			v := c.Load(a.Shard(c.Rank())).Slice(0, 40+20*(c.Rank()/35)) // of more messages on side 1
			c.Send(tl.East, v)
			c.Send(tl.East, v)
		}, setup{world: 70, n: 60, slots: 2, slotBytes: 16})
		b.launch.Local, b.launch.Sends = true, []tl.Dir{tl.East}
		_, err := b.run(sim.Options{Fidelity: noc.Ideal, SecondCore: i == 1})
		var d *fault.Deadlock
		if !errors.As(err, &d) {
			t.Fatal(err)
		}
		said[i] = fmt.Sprintf("%v %+v", d.Time, d.Rings)
	}
	if said[0] != said[1] || !strings.Contains(said[0], "sent 2 of 5 parts") || !strings.Contains(said[0], "sent 2 of 8 parts") {
		t.Errorf("by one %s, by two %s", said[0], said[1])
	}
}

func receiveAt(c *tl.Context, now bool, v tl.Tensor) {
	if now {
		c.Recv(tl.West, v.Shape(), v.DType())
	}
}

func sendAt(c *tl.Context, now bool, v tl.Tensor) {
	for i := 0; now && i < 10; i++ {
		c.Send(tl.East, v)
	}
}

func receiveShort(c *tl.Context, now bool, v tl.Tensor) {
	if now {
		c.Send(tl.East, v)
		c.Recv(tl.West, tl.Dims(4), dtype.F16)
	}
}

func sendMore(c *tl.Context, now bool, v tl.Tensor) {
	if now {
		c.Send(tl.East, v)
	}
}

func useFreed(c *tl.Context, now bool, v tl.Tensor) {
	if now {
		d := c.Add(v, v)
		c.Free(d)
		c.Send(tl.East, d)
	}
}

// TestUnlike: a launch that says wrongly that its ranks are alike is told so.
func TestUnlike(t *testing.T) {
	for name, c := range map[string]struct {
		k    tl.Kernel
		says string
	}{
		"one more": {func(c *tl.Context, a tl.Args) {
			c.Load(a.Shard(c.Rank()))
			if c.Rank() == 8 {
				c.Load(a.Shard(8))
			}
		}, "rank 8 (sip0.cube1.pe0) test t=0ns: the launch says that its ranks are alike: instruction 2 is load (0.063ns), rank 0 has end"},
		"longer": {func(c *tl.Context, a tl.Args) {
			c.Load(a.Shard(c.Rank()).Slice(0, 8-c.Rank()%2))
		}, "alike: instruction 1 is load ("},
		"other ring": {func(c *tl.Context, a tl.Args) {
			c.Send([]tl.Dir{tl.East, tl.West}[c.Rank()/15], c.Load(a.Shard(c.Rank())))
		}, "alike: instruction 2 is send (f16 [8], ring 1), rank 0 has send (f16 [8], ring 0)"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.k, setup{world: 16, n: 8})
			b.launch.Local, b.launch.Alike = true, true
			_, err := b.run(sim.Options{})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("said %v, want %s", err, c.says)
			}
		})
	}
}

// TestUnlikeKind: nor does a rank pass for another kind.
func TestUnlikeKind(t *testing.T) {
	for name, kinds := range map[string][]int32{"right": make([]int32, 24), "wrong": make([]int32, 24)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *tl.Context, a tl.Args) {
				c.Load(a.Shard(c.Rank()).Slice(0, 8-c.Rank()%2))
			}, setup{world: 24, n: 8})
			for i := range kinds {
				kinds[i] = int32(i % 2)
			}
			if name == "wrong" {
				kinds[12] = 1
			}
			b.launch.Local, b.launch.Alike, b.launch.Groups[0].Kinds = true, true, kinds
			_, err := b.run(sim.Options{})
			if says := "rank 12 (sip0.cube1.pe4) test t=0ns: the launch says that its ranks are alike: instruction 1 is load (0.063ns), rank 1 has load (0.055ns)"; name == "wrong" {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("said %v, want %s", err, says)
				}
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSharedUnevenRings: where ranks have other rings than the first, none stands for all.
func TestSharedUnevenRings(t *testing.T) {
	k := func(c *tl.Context, a tl.Args) {
		if _, ok := c.Neighbor(tl.East); ok {
			c.Send(tl.East, c.Load(a.Shard(c.Rank())))
		}
		if _, ok := c.Neighbor(tl.West); ok {
			c.Recv(tl.West, tl.Dims(8), dtype.F16)
		}
	}
	b := newBench(t, k, setup{world: 16, n: 8, topology: "mesh_2d"})
	b.launch.Local, b.launch.Alike = true, true
	if _, err := b.run(sim.Options{}); err != nil {
		t.Error(err)
	}
}

// TestTwoSides: how long the library's algorithms take is the same when ranks share a record, and when
// two goroutines follow them.
func TestTwoSides(t *testing.T) {
	found := 0
	setups := []setup{{world: 64, n: 64 * 30}, {world: 100, n: 100}, {world: 128, n: 64}, {world: 64, n: 64*30 + 32}, {world: 128, n: 128 * 100, slots: 2, slotBytes: 64}}
	if testing.Short() { // the race detector is slow with that many messages
		setups = setups[:len(setups)-1]
	}
	for _, a := range onRings() {
		for _, s := range setups {
			if a.Alike == nil || a.Check != nil && a.Check(s.world, s.n) != nil {
				continue
			}
			s.slots = max(s.slots, a.MinSlots)
			var end [2]string
			for i := range end {
				b := libraryBench(t, a, s)
				if !b.launch.Alike {
					break
				}
				found++
				b.launch.Alike = i == 1
				res, err := b.run(sim.Options{Fidelity: noc.Ideal, SecondCore: i == 1})
				if err != nil {
					t.Fatal(a.Name, err)
				}
				end[i] = fmt.Sprint(res.End, res.Messages, res.Bytes, res.Events, res.Traffic)
			}
			if end[0] != end[1] {
				t.Errorf("%s, %d ranks: two sides %s, else %s", a.Name, s.world, end[1], end[0])
			}
		}
	}
	if found < 4 {
		t.Error("there are too few such algorithms to say anything")
	}
}

// TestTwoSidesStop: a launch that is cancelled leaves no goroutine.
func TestTwoSidesStop(t *testing.T) {
	before := runtime.NumGoroutine()
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		v := c.Load(a.Shard(c.Rank()))
		for range 20_000 {
			c.Send(tl.East, v)
			v = c.Recv(tl.West, v.Shape(), v.DType())
		}
	}, setup{world: 96, n: 8})
	b.launch.Local, b.launch.Sends, b.launch.Alike = true, []tl.Dir{tl.East}, true
	ctx, cancel := context.WithCancel(t.Context())
	x := sim.New(b.m, b.topo, sim.Options{Fidelity: noc.Ideal, SecondCore: true, Progress: func(done, all int, _ unit.Time) {
		if done > 0 || all != 96 {
			t.Errorf("%d of %d kernels have ended", done, all)
		}
		if stack := make([]byte, 16<<10); strings.Contains(string(stack[:runtime.Stack(stack, false)]), ofTheSecond) {
			t.Error("the second goroutine tells of progress, too")
		}
		cancel()
	}})
	if _, err := x.Launch(ctx, b.launch); !errors.Is(err, context.Canceled) {
		t.Errorf("said %v", err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestSharedNothing: kernels that do nothing share that.
func TestSharedNothing(t *testing.T) {
	for _, alike := range []bool{true, false} {
		b := newBench(t, func(*tl.Context, tl.Args) {}, setup{world: 70, n: 8})
		b.launch.Local, b.launch.Alike = true, alike
		if res, err := b.run(sim.Options{SecondCore: true}); err != nil || res.End != res.Start || res.Messages != 0 {
			t.Errorf("alike %v: %+v, %v", alike, res, err)
		}
	}
}
