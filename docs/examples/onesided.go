// guide: window layout

package main

import (
	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// exchange returns what the kernel below shares: a buffer for the neighbour's vector, and a word
// that signals its arrival.
func exchange(n int) (*mem.Layout, error) {
	return mem.NewLayout(0, []mem.Buffer{{Name: "exchange", Parts: []mem.Part{
		mem.DataPart("data", dtype.F32, n),
		mem.SignalPart("arrived", mem.Int32, 1),
	}}})
}

// end

// guide: put signal
// fromTheLeft replaces each rank's vector by that of the rank before it.
func fromTheLeft(c *tl.Context, a tl.Args) {
	w := a.Window(0)
	data, arrived := c.Data(w, "exchange.data"), c.Signals(w, "exchange.arrived")
	mine, right := a.Shard(c.Rank()), (c.Rank()+1)%c.WorldSize()

	c.PutSignal(data, right, mine, arrived, tl.SignalAdd, 1) // the word grows when the data are there
	c.WaitUntil(arrived, tl.GE, 1)
	c.Store(mine, c.Load(c.Local(data)))
}

// end

func three(n int) [][]float64 {
	in := make([][]float64, 3)
	for r, scale := range []float64{1, 10, 100} {
		for i := range n {
			in[r] = append(in[r], scale*float64(i+1))
		}
	}
	return in
}

// guide: pull layout
// staged is a buffer to stage a vector in, and a signal word for each rank. Each is a buffer
// of its own, so that it is aligned for any type and number of elements.
func staged(world, n int, t dtype.Type) (*mem.Layout, error) {
	return mem.NewLayout(0, []mem.Buffer{
		{Name: "data", Parts: []mem.Part{mem.DataPart("", t, max(1, n))}},
		{Name: "ready", Parts: []mem.Part{mem.SignalPart("", mem.Int32, world)}},
	})
}

// end

// guide: pull
// sumByPull stages every vector where the others can read it, waits for all ranks, and reads.
func sumByPull(c *tl.Context, a tl.Args) {
	w := a.Window(0)
	data, ready := c.Data(w, "data").Slice(0, a.NElem), c.Signals(w, "ready")
	me, n := c.Rank(), c.WorldSize()

	c.Store(c.Local(data), c.Load(a.Shard(me)))
	c.PipeBarrier() // the store is complete before any rank is notified
	for peer := range n {
		if peer != me {
			c.Notify(ready.At(me), peer, tl.SignalAdd, 1)
		}
	}
	for peer := range n {
		if peer != me {
			c.WaitUntil(ready.At(peer), tl.GE, 1)
		}
	}
	acc := c.Load(c.Local(data))
	for peer := range n {
		if peer != me {
			acc = c.Combine(a.Op, acc, c.Load(c.At(data, peer)))
		}
	}
	c.Store(a.Out(me, a.NElem), c.Finish(a.Op, acc, n))
}

// end

// guide: window row
var _ = algorithm.Register(algorithm.Algorithm{
	Name:       "sum_by_pull",
	Summary:    "every rank stages its vector, waits for all ranks, and reads all vectors",
	Collective: "all_reduce",
	Topology:   "none", // it uses no rings
	Kernel:     sumByPull,
	Window:     staged, // for each call, from its ranks, elements per rank and type
	Steps:      "1 barrier, N-1 reads",
	Cost:       "alpha + (N-1) (alpha + beta M)",
	Source:     "this guide",
})

// end

// guide: fence
// twoBlocks puts two blocks and notifies once. Without the fence the word may grow before
// either block has arrived.
func twoBlocks(c *tl.Context, a tl.Args) {
	w := a.Window(0)
	data, arrived := c.Data(w, "exchange.data"), c.Signals(w, "exchange.arrived")
	mine, right := a.Shard(c.Rank()), (c.Rank()+1)%c.WorldSize()

	c.PutNBI(data.Chunk(2, 0), right, mine.Chunk(2, 0))
	c.PutNBI(data.Chunk(2, 1), right, mine.Chunk(2, 1))
	c.Fence() // at each destination: earlier puts before later signals
	c.Notify(arrived, right, tl.SignalAdd, 1)
	c.WaitUntil(arrived, tl.GE, 1)
	c.Quiet() // mine is free again
	c.Store(mine, c.Load(c.Local(data)))
}

// end

// guide: no fence
func tooEarly(c *tl.Context, a tl.Args) {
	w := a.Window(0)
	data, arrived := c.Data(w, "exchange.data"), c.Signals(w, "exchange.arrived")
	right := (c.Rank() + 1) % c.WorldSize()

	c.PutTensor(data, right, c.Load(a.Shard(c.Rank())))
	c.Notify(arrived, right, tl.SignalAdd, 1) // may be there before the put
	c.WaitUntil(arrived, tl.GE, 1)
	c.Store(a.Shard(c.Rank()), c.Load(c.Local(data)))
}

// end

// guide: rounds
// rounds sums in a ring, with two alternating buffers. The words only grow, so that nothing
// has to be reset.
func rounds(c *tl.Context, a tl.Args) {
	w := a.Window(0)
	data, notified := c.Data(w, "two.data"), c.Signals(w, "two.notified")
	me, n := c.Rank(), c.WorldSize()
	right, left := (me+1)%n, (me+n-1)%n

	acc := c.Load(a.Shard(me))
	part := acc
	for round := range n - 1 {
		block := data.Chunk(2, round%2)
		c.Fence() // this round's signal must not overtake the one before
		c.PutTensorSignal(block, right, part, notified.At(0), tl.SignalAdd, 1)
		c.WaitUntil(notified.At(0), tl.GE, int64(round+1))
		part = c.Load(c.Local(block))
		acc = c.Add(acc, part)
		c.PipeBarrier() // the load is complete: the left neighbour may use the block again
		c.Notify(notified.At(1), left, tl.SignalAdd, 1)
		if round > 0 {
			c.WaitUntil(notified.At(1), tl.GE, int64(round))
		}
	}
	c.Store(a.Shard(me), acc)
}

// end

// hazards are the kernels of the blocks "hazard NAME" of the pages.
var hazards = map[string]tl.Kernel{"no fence": tooEarly}
