// guide: keep

package main

import (
	"kernbench/mem"
	"kernbench/tl"
)

// lastTwo keeps a message beyond the next receive: it computes with the first before it takes the
// second. Converting to the same type copies the data and keeps its contributors.
func lastTwo(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	own := c.Load(mine)
	c.Send(tl.East, own)
	c.Send(tl.East, c.Add(own, own))
	first := c.Recv(tl.West, own.Shape(), own.DType())
	kept := c.Convert(first, first.DType()) // into scratch; the slot may go
	second := c.Recv(tl.West, own.Shape(), own.DType())
	c.Store(mine, c.Add(kept, second))
}

// end

// guide: futures
func overlap(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	own := c.Load(mine)
	coming := c.RecvAsync(tl.West, own.Shape(), own.DType()) // returns at once
	c.Send(tl.East, own)
	twice := c.Add(own, own) // while the message is in flight
	c.Store(mine, c.Add(twice, c.Wait(coming)))
}

// end

// guide: copy
func intoMemory(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	c.SendRef(tl.East, mine) // address form: reads memory, returns when it has
	c.RecvTo(tl.West, mine)  // slot -> memory; the slot goes back at once
}

// end

// guide: any
func sumOfNeighbours(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	own := c.Load(mine)
	c.Send(tl.East, own)
	c.Send(tl.West, own)
	sum := own
	for range 2 {
		got, _ := c.RecvAny(own.Shape(), own.DType()) // the first message, and its direction
		sum = c.Add(sum, got)                         // the order does not matter
	}
	c.Store(mine, sum)
}

// end

// guide: composite
// product multiplies two 4x4 matrices that lie one after the other in this rank's shard. It doubles
// the result, replaces negative numbers by 0, and stores it after them.
func product(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	at := func(i int) tl.Ref {
		return c.Ref(mine.Addr+mem.Addr(i*16*a.DType.Size()), tl.Dims(4, 4), a.DType)
	}
	h := c.Composite(tl.Composite{
		A: at(0), B: at(1), Out: at(2),
		Epilogue: []tl.Epilogue{
			{Op: tl.EpilogueScale, Factor: 2},
			{Op: tl.EpilogueReLU},
		},
	})
	// The kernel is free here.
	c.Await(h)
}

// end

// guide: matrix
// attend is softmax(q kᵀ) v for matrices of 2 rows and 2 columns.
func attend(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	load := func(i int) tl.Tensor { return c.Load(mine.Slice(4*i, 4)).Reshape(2, 2) }
	q, k, v := load(0), load(1), load(2)
	scores := c.Softmax(c.Dot(q, c.Transpose(k)), -1)
	c.Store(mine.Slice(0, 4), c.Dot(scores, v))
}

// end
