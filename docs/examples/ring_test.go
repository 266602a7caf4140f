package examples

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/kerneltest"
	"kernbench/tl"
	"kernbench/topology"
)

// guide: ring
func ringSum(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	acc := c.Load(mine)
	current := acc
	for range c.WorldSize() - 1 {
		c.Send(tl.East, current)
		got := c.Recv(tl.West, acc.Shape(), acc.DType())
		acc = c.Combine(a.Op, acc, got) // add, multiply, max or min: what was asked for
		current = got                   // pass on what came, not the sum
	}
	c.Store(mine, c.Finish(a.Op, acc, c.WorldSize())) // avg divides here
}

// end

var _ = algorithm.Register(algorithm.Algorithm{
	Name: "ring_sum", Summary: "the guide's ring", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: ringSum, Steps: "N-1", Cost: "(N-1)(alpha + beta M)", Source: "this guide",
})

// guide: chunked
func ringSumChunked(c *tl.Context, a tl.Args) {
	n := c.WorldSize()
	mine := a.Shard(c.Rank())

	// Reduce-scatter: partial sums of one chunk each travel east.
	part := c.Load(mine.Chunk(n, c.Rank()))
	for step := range n - 1 {
		_, k := topology.RingStep(c.Rank(), step, n)
		own := c.Load(mine.Chunk(n, k)) // comes in while the message is on its way
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

// end

var _ = algorithm.Register(algorithm.Algorithm{
	Name: "ring_sum_chunked", Summary: "the guide's chunked ring", Collective: "all_reduce", Topology: "ring_1d",
	Kernel: ringSumChunked, Steps: "2(N-1)", Cost: "2(N-1)(alpha + beta M/N)", Source: "this guide",
})

// guide: tree
func treeSum(c *tl.Context, a tl.Args) {
	parent, children := topology.TreeStep(c.Rank(), c.WorldSize())
	mine := a.Shard(c.Rank())
	acc := c.Load(mine)
	for i := range children {
		acc = c.Add(acc, c.Recv(tl.Child0+tl.Dir(i), acc.Shape(), acc.DType()))
	}
	if parent >= 0 {
		c.Send(tl.Parent, acc)
		acc = c.Recv(tl.Parent, acc.Shape(), acc.DType())
	}
	for i := range children {
		c.Send(tl.Child0+tl.Dir(i), acc)
	}
	c.Store(mine, acc)
}

// end

// guide: table test
func TestSums(t *testing.T) {
	for _, k := range []struct {
		name, topology string
		kernel         tl.Kernel
	}{
		{"ring", "ring_1d", ringSum},
		{"chunked", "ring_1d", ringSumChunked},
		{"tree", "tree_binary", treeSum},
	} {
		for _, world := range []int{1, 2, 3, 8} {
			t.Run(fmt.Sprintf("%s/%d", k.name, world), func(t *testing.T) {
				kerneltest.Run(t, k.kernel, kerneltest.Config{
					Collective: "all_reduce", Topology: k.topology, World: world, NElem: 5,
					Slots: 2, SlotBytes: 64, // of each ring
					Schedules: 20, // random ones, besides that of each executor
				})
			})
		}
	}
}

// end
