// guide: chunked

package main

import (
	"kernbench/algorithm"
	"kernbench/tl"
	"kernbench/topology"
)

func ringSumChunked(c *tl.Context, a tl.Args) {
	n := c.WorldSize()
	mine := a.Shard(c.Rank())

	// Reduce-scatter: partial sums of one chunk each travel east.
	part := c.Load(mine.Chunk(n, c.Rank()))
	for step := range n - 1 {
		_, k := topology.RingStep(c.Rank(), step, n)
		own := c.Load(mine.Chunk(n, k)) // comes in while the message is in flight
		c.Send(tl.East, part)
		got := c.Recv(tl.West, own.Shape(), own.DType())
		part = c.Combine(a.Op, own, got)
	}
	part = c.Finish(a.Op, part, n)
	c.Store(mine.Chunk(n, (c.Rank()+1)%n), part)

	// All-gather: the complete chunks travel once round.
	for step := range n - 1 {
		_, k := topology.RingGatherStep(c.Rank(), step, n)
		c.Send(tl.East, part)
		chunk := mine.Chunk(n, k)
		part = c.Recv(tl.West, chunk.Shape, chunk.DType)
		c.Store(chunk, part)
	}
}

var _ = algorithm.Register(algorithm.Algorithm{
	Name:       "ring_sum_chunked",
	Summary:    "the guide's chunked ring",
	Collective: "all_reduce",
	Topology:   "ring_1d",
	Kernel:     ringSumChunked,
	Steps:      "2(N-1)",
	Cost:       "2(N-1)(alpha + beta M/N)",
	Source:     "this guide",
})

// end
