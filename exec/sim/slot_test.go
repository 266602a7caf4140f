package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// TestCopyReturnsCredits: a receive into memory returns the slot by itself. So one slot is enough
// to forward a received message, where lending it is not.
func TestCopyReturnsCredits(t *testing.T) {
	for _, copied := range []bool{true, false} {
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			place := a.Shard(c.Rank())
			c.SendRef(tl.East, place)
			for range 2 {
				if copied {
					c.RecvTo(tl.West, place)
					c.SendRef(tl.East, place)
				} else {
					c.Send(tl.East, like(c, tl.West, c.Full(place.Shape, a.DType, 0)))
				}
			}
			c.RecvTo(tl.West, place)
		}, setup{world: 3, n: 5, slots: 1})
		log := b.fill(t, func(r, i int) float64 { return float64(10*r + i) })
		_, err := b.run(sim.Options{Data: log})
		var d *fault.Deadlock
		if copied != (err == nil) || !copied && (!errors.As(err, &d) || !strings.Contains(d.Advice, "n_slots: 2")) {
			t.Fatalf("copied=%v: %v", copied, err)
		}
		if !copied {
			continue
		}
		for r, at := range b.launch.Groups[0].Args.Shards { // three steps round: home again
			got, err := log.Read(at, dtype.F16, 5)
			if err != nil || dtype.At(dtype.F16, got, 4) != float64(10*r+4) {
				t.Errorf("rank %d: %x, %v", r, got, err)
			}
		}
	}
}

// TestHazards: under the older credit rule a slot may be overwritten while the kernel
// still reads it; the run counts that.
func TestHazards(t *testing.T) {
	for _, late := range []bool{false, true} {
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			x := c.Full(tl.Dims(4), a.DType, 1)
			if c.Rank() == 0 {
				for range 3 {
					c.Send(tl.East, x)
				}
				return
			}
			got := like(c, tl.West, x)
			for range 500 {
				if !late {
					break
				}
				c.Full(tl.Dims(1), a.DType, 1)
			}
			c.Add(got, x)
			like(c, tl.West, x)
			like(c, tl.West, x)
		}, setup{world: 2, slots: 1, ring: func(r *tl.Ring) { r.OnRecv = true }})
		res, err := b.run(sim.Options{})
		if err != nil || (res.Hazards > 0) != late {
			t.Errorf("late=%v: %+v, %v", late, res, err)
		}
	}
}

// TestLooseReceive: without strict validation other types of the same size are accepted, as
// bytes, also empty ones and into memory.
func TestLooseReceive(t *testing.T) {
	for _, n := range []int{0, 3, 100} {
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			c.Send(tl.East, own(c, a))
			x := own(c, a)
			c.Store(a.Shard(c.Rank()), c.Convert(c.Recv(tl.West, tl.Dims(1, n), dtype.I16), a.DType))
			c.Send(tl.East, x)
			c.RecvTo(tl.West, c.Ref(mem.At(mem.HBM, c.Rank(), 1<<20), tl.Dims(n, 1), dtype.BF16))
		}, setup{world: 2, n: n, slotBytes: 64, ring: func(r *tl.Ring) { r.Strict = false }})
		log := b.fill(t, func(int, int) float64 { return 1 })
		for r := range 2 {
			if n == 0 {
				continue
			}
			if err := log.Map(mem.At(mem.HBM, r, 1<<20), dtype.BF16, n); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.run(sim.Options{Data: log}); err != nil {
			t.Fatal(err)
		}
		for r := range 2 {
			if n == 0 {
				continue
			}
			got, err := log.Read(b.launch.Groups[0].Args.Shards[r], dtype.F16, n)
			if want := float64(0x3c00); err != nil || dtype.At(dtype.F16, got, n-1) != want {
				t.Errorf("n=%d rank %d: %v, %v, want the bits of 1: %v", n, r, dtype.At(dtype.F16, got, n-1), err, want)
			}
			got, err = log.Read(mem.At(mem.HBM, r, 1<<20), dtype.BF16, n)
			if err != nil || fmt.Sprintf("%x", got[2*n-2:]) != "003c" {
				t.Errorf("n=%d rank %d: %x, %v", n, r, got, err)
			}
		}
	}
}

// TestRoundRobin: an undirected receive takes from the rings in turn, and reports which one.
func TestRoundRobin(t *testing.T) {
	var dirs []tl.Dir
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		x := c.Full(tl.Dims(3), a.DType, 1)
		if c.Rank() != 0 {
			for range 3 {
				c.Send([]tl.Dir{0, tl.West, tl.East}[c.Rank()], x)
			}
			return
		}
		for range 100 { // until all are there
			c.Full(tl.Dims(1), a.DType, 1)
		}
		for range 6 {
			_, d := c.RecvAny(x.Shape(), x.DType())
			dirs = append(dirs, d)
		}
	}, setup{world: 3})
	if _, err := b.run(sim.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := []tl.Dir{tl.East, tl.West, tl.East, tl.West, tl.East, tl.West}; !slices.Equal(dirs, want) {
		t.Errorf("took from %v, want %v", dirs, want)
	}
}
