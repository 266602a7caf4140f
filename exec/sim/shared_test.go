package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/tl"
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
			var said [2]string
			for i, alike := range []bool{true, false} {
				b := newBench(t, k, setup{world: 70, n: 8})
				b.launch.Local, b.launch.Sends, b.launch.Alike = true, []tl.Dir{tl.East}, alike
				res, err := b.run(sim.Options{})
				said[i], _, _ = strings.Cut(fmt.Sprint(err), "goroutine") // whose stack is another's
				if res != nil {
					said[i] = fmt.Sprint(res.End, res.Messages, res.Events, res.Traffic)
				}
			}
			if (name == "nothing") != !strings.Contains(said[0], ": ") {
				t.Errorf("said %s", said[0])
			}
			if said[0] != said[1] {
				t.Errorf("alike: %s\nelse:  %s", said[0], said[1])
			}
		})
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

// TestSharedRecord: how long a library's ring takes is the same whether ranks share a record.
func TestSharedRecord(t *testing.T) {
	for _, n := range []int{96, 960, 9600} {
		var end [2]string
		for i, alike := range []bool{true, false} {
			b := libraryBench(t, algorithm.RingAllReduceChunked, setup{world: 96, n: n})
			if !b.launch.Alike {
				t.Fatal("the row does not say that its ranks are alike")
			}
			b.launch.Alike = alike
			res, err := b.run(sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			end[i] = fmt.Sprint(res.End, res.Messages, res.Bytes, res.Events, res.Traffic)
		}
		if end[0] != end[1] {
			t.Errorf("%d elements: alike %s, else %s", n, end[0], end[1])
		}
	}
}
