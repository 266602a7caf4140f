// Package faulty registers algorithms that are wrong, or unusual, on purpose. Tests of
// products import it to check that a mistake is found and how it is reported. No program
// imports it.
//
// It may import what an algorithm and a host program may.
package faulty

import (
	"context"
	"errors"
	"sync/atomic"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// Algorithms that an author might write, and algorithms with mistakes that a loose comparison of
// values does not find.

// patternA is a pattern of the guide: odd ranks have no W.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_pattern_a", Collective: "barrier", Topology: "ring_1d",
	Neighbors: func(rank, _ int, m map[tl.Dir]int) map[tl.Dir]int {
		if rank%2 == 1 {
			delete(m, tl.West)
		}
		return m
	},
	// Even ranks send to both neighbours, odd ranks to the right one.
	Kernel: func(c *tl.Context, a tl.Args) {
		mine := c.Load(a.Shard(c.Rank()))
		c.Send(tl.East, mine)
		if c.Rank()%2 == 0 {
			c.Send(tl.West, mine)
			c.Recv(tl.West, mine.Shape(), a.DType)
			return
		}
		c.Recv(tl.West, mine.Shape(), a.DType) // from the left, along E
		c.Recv(tl.East, mine.Shape(), a.DType) // from the right, along its W
	},
})

// patternB is the guide's skip ring: E leads two ranks on, and no direction leads back.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_pattern_b", Collective: "barrier", Topology: "none",
	Neighbors: func(rank, world int, _ map[tl.Dir]int) map[tl.Dir]int {
		return map[tl.Dir]int{tl.East: (rank + 2) % world}
	},
	Kernel: func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		c.Send(tl.East, c.Load(mine))
		c.Store(mine, c.Recv(tl.West, mine.Shape, a.DType))
	},
})

// Lossy is a ring all-reduce that stops early: its last ranks' contributions go missing. 13 of 256
// are within a tolerance of 10 %.
func Lossy(c *tl.Context, a tl.Args) {
	const lost = 13
	mine := a.Shard(c.Rank())
	acc := c.Load(mine)
	current := acc
	for range max(0, c.WorldSize()-1-lost) {
		c.Send(tl.East, current)
		recv := c.Recv(tl.West, acc.Shape(), a.DType)
		acc = c.Combine(a.Op, acc, recv)
		current = recv
	}
	c.Store(mine, c.Finish(a.Op, acc, c.WorldSize()))
}

var _ = algorithm.Register(algorithm.Algorithm{Name: "lab_lossy", Collective: "all_reduce", Topology: "ring_1d", Kernel: Lossy})

// double passes on the sum instead of what was received, so that contributions count twice.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_double", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		acc := c.Load(mine)
		for range c.WorldSize() - 1 {
			c.Send(tl.East, acc)
			acc = c.Combine(a.Op, acc, c.Recv(tl.West, acc.Shape(), a.DType))
		}
		c.Store(mine, acc)
	},
})

// halved multiplies the result by 0.5, which is not a sum.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_halved", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		c.Store(mine, c.Scale(dtype.Mul, c.Load(mine), 0.5))
	},
})

// overflowing computes with intermediate values that f16 cannot hold.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_overflow", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		acc := c.Load(mine)
		c.Send(tl.East, acc)
		acc = c.Combine(a.Op, acc, c.Recv(tl.West, acc.Shape(), a.DType))
		c.Store(mine, c.Scale(dtype.Mul, c.Scale(dtype.Mul, acc, 60000), 1))
	},
})

// panics is a kernel with a bug of the ordinary kind.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_panics", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) { _ = a.Int(7) },
})

// twice sends a message more than it receives.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_twice", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) {
		mine := c.Load(a.Shard(c.Rank()))
		c.Send(tl.East, mine)
		c.Send(tl.East, mine)
		c.Recv(tl.West, mine.Shape(), a.DType)
	},
})

// lab_waits waits for a message that no rank sends.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_waits", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) {
		if c.Rank() == 1 {
			c.Recv(tl.West, tl.Dims(a.NElem), a.DType)
		}
	},
})

// FickleRuns counts the runs of fickle, which is wrong, or hangs, in its first FickleFirst runs
// only.
var FickleRuns, FickleFirst atomic.Int32

var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_fickle", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) {
		first := FickleRuns.Add(1) <= FickleFirst.Load()
		mine := a.Shard(0)
		x := c.Load(mine)
		if first && a.Op == tl.Max {
			c.Recv(tl.West, x.Shape(), x.DType())
		}
		if first {
			x = c.Add(x, x)
		}
		c.Store(mine, x)
	},
})

var ErrCheck = errors.New("index out of range, say")

// A row whose Check panics.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_bad_check", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) {},
	Check:  func(world, nElem int) error { panic(ErrCheck) },
})

// spreads makes its mistakes in several groups. With a rank per SIP, ranks 0 to 7 are wrong in the
// first shard's group and ranks 8 to 15 in the second's.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_spread", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: func(c *tl.Context, a tl.Args) {
		ringSum(c, a)
		const page = 2 << 20 // tensors start at multiples of it, shards follow each other
		if group := int(a.Shard(c.Rank()).Addr) % page / a.DType.Size(); c.Rank()/8 == group {
			mine := a.Shard(c.Rank())
			c.Store(mine, c.Full(mine.Shape, a.DType, 1))
		}
	},
})

func ringSum(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	acc := c.Load(mine)
	current := acc
	for range c.WorldSize() - 1 {
		c.Send(tl.East, current)
		current = c.Recv(tl.West, acc.Shape(), a.DType)
		acc = c.Combine(a.Op, acc, current)
	}
	c.Store(mine, acc)
}

// A grid of three programs that wait for each other. Only two are on the PE at a time.
var _ = bench.Register(bench.Program{
	Name: "lab_test_waits_for_itself", Parallel: true, Ranks: 1,
	Run: func(ctx context.Context, h *bench.Host) error {
		team, err := h.Device.NewTeam("alone", h.Devices()[:1])
		if err != nil {
			return err
		}
		w, err := h.Device.NewWindow("words", team, 0, mem.Buffer{Name: "came", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 1)}})
		if err != nil {
			return err
		}
		s, err := h.Device.NewStream(int(h.Devices()[0]))
		if err != nil {
			return err
		}
		if err := s.Launch("meet", func(c *tl.Context, a tl.Args) {
			came := c.Signals(a.Window(0), "came")
			c.Notify(came, 0, tl.SignalAdd, 1)
			c.WaitUntil(came, tl.GE, 3)
		}, device.Grid{Programs: 3, Resident: 2, Team: team}, w); err != nil {
			return err
		}
		return h.Device.Synchronize(ctx)
	},
})
