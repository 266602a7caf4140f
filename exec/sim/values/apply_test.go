package values_test

import (
	"fmt"
	"math"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim/values"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

func mine(c *tl.Context, a tl.Args) tl.Ref { return a.Shard(c.Rank()) }

// exchange sends a tensor east and receives the one from the west.
func exchange(c *tl.Context, x tl.Tensor) tl.Tensor {
	c.Send(tl.East, x)
	return c.Recv(tl.West, x.Shape(), x.DType())
}

// pe returns the number of the PE that a rank runs on.
func pe(c *tl.Context, a tl.Args) int32 { return int32(a.Shards[c.Rank()].Unit()) }

// over is virtual memory of a rank, which spans extents.
func over(c *tl.Context, a tl.Args, from, n int) tl.Ref {
	return tl.Ref{Addr: virtual(pe(c, a)) + mem.Addr(from*a.DType.Size()), Shape: tl.Dims(n), DType: a.DType}
}

var kernels = map[string]tl.Kernel{
	"twice": func(c *tl.Context, a tl.Args) {
		v := c.Load(mine(c, a))
		c.Store(mine(c, a), c.Add(c.Add(v, exchange(c, v)), v))
	},
	"parts of tensors": func(c *tl.Context, a tl.Args) {
		v := c.Load(mine(c, a))
		got := exchange(c, v.Slice(4, 8))
		c.Send(tl.East, got)
		sum := c.Add(got, v.Slice(8, 8))
		next := c.Recv(tl.West, tl.Dims(8), a.DType)
		c.Store(mine(c, a).Slice(2, 8), c.Add(sum, next))
		c.SendRef(tl.East, mine(c, a).Slice(0, 6))
		late := c.Wait(c.RecvAsync(tl.West, tl.Dims(6), a.DType))
		c.Send(tl.East, late)
		c.Store(mine(c, a).Slice(10, 3), c.Scale(dtype.Mul, c.Recv(tl.West, tl.Dims(6), a.DType).Slice(3, 3), 0.5))
	},
	"places of each rank": func(c *tl.Context, a tl.Args) {
		r := c.Rank()
		v := c.Load(mine(c, a).Slice(r, 16))
		w := c.Load(mine(c, a).Slice(30-r, 16))
		sum := c.Add(v.Slice(r%5, 8), w.Slice(r%7, 8))
		c.Store(mine(c, a).Slice(2*r, 8), sum)
		got := exchange(c, v.Slice(r%3, 9))
		c.Store(mine(c, a).Slice(r, 4), got.Slice(r%4, 4))
		c.SendRef(tl.West, mine(c, a).Slice(r, 5))
		c.Store(mine(c, a).Slice(40, 5), c.Recv(tl.East, tl.Dims(5), a.DType))
	},
	"empty": func(c *tl.Context, a tl.Args) {
		none := exchange(c, c.Load(mine(c, a).Slice(0, 0)))
		sum := c.Add(none, none)
		c.Store(mine(c, a).Slice(1, 0), c.Scale(dtype.Div, sum, 2))
		c.Free(sum)
		c.SendRef(tl.West, mine(c, a).Slice(0, 0))
		c.Recv(tl.East, tl.Dims(0), a.DType)
		c.Store(mine(c, a), c.Load(mine(c, a)))
	},
	"long payloads": func(c *tl.Context, a tl.Args) {
		v := c.Load(mine(c, a))
		got := exchange(c, v)
		for range 3 {
			got = exchange(c, c.Add(got, v))
		}
		c.Store(mine(c, a), got)
	},
	"many on their way": func(c *tl.Context, a tl.Args) {
		for i := range 8 {
			c.SendRef(tl.East, mine(c, a).Slice(4*i, 4))
		}
		for i := range 8 {
			c.Store(mine(c, a).Slice(4*(7-i), 4), c.Recv(tl.West, tl.Dims(4), a.DType))
		}
	},
	"all arithmetic": func(c *tl.Context, a tl.Args) {
		v, w := c.Load(mine(c, a).Slice(0, 16)), c.Load(mine(c, a).Slice(16, 16))
		x := v
		for _, op := range []tl.ReduceOp{tl.Sum, tl.Prod, tl.Max, tl.Min} {
			x = c.Combine(op, x, w)
		}
		x = c.Sub(c.Div(x, c.Full(tl.Dims(16), a.DType, 3)), c.Neg(c.Abs(v)))
		x = c.FMA(x.Slice(c.Rank()%3, 8), v.Slice(2, 8), w.Slice(3, 8))
		x = c.Clamp(c.Add(x, c.Full(tl.Dims(1), a.DType, 1)), 0, 40)
		x = c.Add(c.Full(tl.Dims(1), a.DType, 2), x)
		c.Store(mine(c, a).Slice(0, 8), c.Scale(dtype.Max, x, 5))
		m := c.Load(square(mine(c, a).Slice(16, 16)))
		c.Store(mine(c, a).Slice(8, 4), c.Sum(m, 0))
		c.Store(mine(c, a).Slice(12, 4), c.Max(c.Transpose(m), 1))
		c.Store(square(mine(c, a).Slice(16, 16)), c.Dot(m, c.Transpose(m)))
		c.Store(mine(c, a).Slice(32, 4), c.Convert(c.Convert(v.Slice(4, 4), dtype.I32), a.DType))
	},
	"scalars of each rank": func(c *tl.Context, a tl.Args) {
		v := c.Load(mine(c, a))
		zero := math.Copysign(0, float64(c.Rank()%2)-1)
		c.Store(mine(c, a), c.Scale(dtype.Mul, v, float64(c.Rank())))
		c.Store(mine(c, a).Slice(0, 4), c.Full(tl.Dims(4), a.DType, zero))
		c.Store(mine(c, a).Slice(4, 4), c.Full(tl.Dims(4), a.DType, math.NaN()))
	},
	"in pieces": func(c *tl.Context, a tl.Args) {
		v := c.Load(over(c, a, 10, 20))
		c.Store(over(c, a, 12, 20), exchange(c, v))
		c.Store(over(c, a, 0, 48), c.Load(over(c, a, 0, 48)))
	},
	"in pieces of each rank": func(c *tl.Context, a tl.Args) {
		v := c.Load(over(c, a, 3*c.Rank(), 10))
		c.Store(over(c, a, 2*c.Rank(), 10), exchange(c, v))
	},
	"tiles": func(c *tl.Context, a tl.Args) {
		d := c.Desc(mine(c, a), 6, 8, 3, 4)
		v := exchange(c, c.LoadTile(d, 0, c.Rank()%4))
		c.StoreTile(d, 3, 4, v)
		c.StoreTile(d, 2, c.Rank()%5, c.LoadTile(d, 3, 4))
	},
	"unlike": func(c *tl.Context, a tl.Args) {
		v := c.Load(mine(c, a))
		for range c.Rank() {
			v = c.Add(v, v)
		}
		v = exchange(c, v)
		if c.Rank() == 1 {
			v = c.Neg(v)
		}
		c.Store(mine(c, a), v)
	},
}

func square(r tl.Ref) tl.Ref {
	r.Shape = tl.Dims(4, 4)
	return r
}

// TestApply: the data of a recorded program, in lockstep and in turns, equal those of an executor,
// with few ranks and many. There is one group or several.
func TestApply(t *testing.T) {
	for name, k := range kernels {
		for _, worlds := range [][]int{{2}, {9}, {8, 3, 9}} {
			for _, typ := range []dtype.Type{dtype.F32, dtype.F16, dtype.I32} {
				t.Run(fmt.Sprintf("%s/%v/%v", name, worlds, typ), func(t *testing.T) {
					if d := sameThreeWays(t, ring(k, typ, worlds...)); d != "" {
						t.Error(d)
					}
				})
			}
		}
	}
}

// TestLooseTypes: without strict validation a payload is received as another type of the same
// size, bit by bit.
func TestLooseTypes(t *testing.T) {
	for _, n := range []int{0, 3, 48} { // a slot, and several
		for _, worlds := range [][]int{{2}, {9}} {
			l := ring(func(c *tl.Context, a tl.Args) {
				c.Send(tl.East, c.Load(mine(c, a).Slice(0, n)))
				x := c.Recv(tl.West, tl.Dims(1, n), dtype.I16)
				y := c.Convert(c.Scale(dtype.Mul, x, 0.125), a.DType)
				c.Store(mine(c, a).Slice(0, n), y)
				c.Send(tl.East, y)
				c.Send(tl.East, c.Recv(tl.West, tl.Dims(n, 1), dtype.BF16))
				c.Store(mine(c, a).Slice(0, n), c.Recv(tl.West, tl.Dims(n), a.DType))
			}, dtype.F16, worlds...)
			l.Ring.Strict = false
			if d := sameThreeWays(t, l); d != "" {
				t.Errorf("%d elements, %v ranks: %s", n, worlds, d)
			}
		}
	}
}

// TestWrongLengths: a message whose length differs from its receive is an error, not a panic. The
// parallel replay may not have found it yet.
func TestWrongLengths(t *testing.T) {
	for _, worlds := range [][]int{{2}, {9}} {
		l := ring(func(c *tl.Context, a tl.Args) {
			c.Send(tl.East, c.Load(mine(c, a).Slice(0, 4)))
			x := c.Recv(tl.West, tl.Dims(8), a.DType)
			c.Store(mine(c, a).Slice(0, 8), c.Add(x, x))
		}, dtype.F16, worlds...)
		if err := values.Apply(t.Context(), l, record(t, l), memory(t, l, oplog.Options{})); err == nil {
			t.Errorf("%v ranks: 4 elements were received as 8", worlds)
		}
	}
}

// TestRingsThatCross: ranks perform the same operations. What one half sends east comes from the
// west, and what the other half sends east comes from the east.
func TestRingsThatCross(t *testing.T) {
	l := ring(func(c *tl.Context, a tl.Args) {
		x := c.Load(mine(c, a))
		c.Send(tl.East, x)
		c.Send(tl.West, c.Add(x, x))
		y := c.Recv(tl.East, x.Shape(), x.DType())
		c.Store(mine(c, a), c.Sub(y, c.Recv(tl.West, x.Shape(), x.DType())))
	}, dtype.F32, 16)
	w := l.Groups[0].Wiring
	for r := int32(8); r < 16; r++ { // pairs
		for port := range uint8(2) {
			w[r].Out[port].Peer, w[r].Out[port].PeerIn = r^1, port
			w[r].In[port].Peer, w[r].In[port].PeerOut = r^1, port
		}
	}
	for r := int32(0); r < 8; r++ { // a ring of their own
		east, west := (r+1)%8, (r+7)%8
		w[r].Out[0].Peer, w[r].In[0].Peer = east, east
		w[r].Out[1].Peer, w[r].In[1].Peer = west, west
	}
	if d := sameThreeWays(t, l); d != "" {
		t.Error(d)
	}
}
