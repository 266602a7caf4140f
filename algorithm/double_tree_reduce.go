package algorithm

import "kernbench/tl"

// doubleTreeReduce is doubleTreeBroadcast backwards. Each of the two trees sums one half of the
// vector, chunk by chunk, from its leaves to its root. A rank at depth d sends the sum of chunk i
// to its parent in round i+height-d. Its children have sent their sums in the previous round.
func doubleTreeReduce(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	mine := a.Shard(me)
	trees := rootedTrees(c, r, a)
	for round := range trees[0].rounds() + 1 {
		for half, t := range trees {
			i := round - t.height + t.depth
			if i < 0 || i >= t.chunks {
				continue
			}
			acc := c.Load(mine.Chunk(2, half).Chunk(t.chunks, i))
			for _, child := range t.down {
				acc = c.Combine(a.Op, acc, c.Recv(child.from, acc.Shape(), acc.DType()))
			}
			if r.number > 0 {
				c.Send(t.up.to, acc)
			} else {
				c.Store(a.Out(me, a.NElem).Chunk(2, half).Chunk(t.chunks, i), c.Finish(a.Op, acc, r.n))
			}
			c.Free(acc)
		}
	}
}

// toTwoTrees returns the path of a broadcast in reverse.
func toTwoTrees(world, root int) Path { return backwards(underTwoTrees(world, root)) }

// DoubleTreeReduce needs as few steps as a tree. Each rank sends and receives at most the bytes of
// the vector, as in a chain.
var DoubleTreeReduce = Register(Algorithm{
	Name:       "double_tree_reduce",
	Summary:    "each of two binary trees sums half of the vector, in chunks: few steps, and all ranks send and receive at the rate of a link",
	Collective: "reduce",
	Topology:   "circulant",
	Kernel:     doubleTreeReduce,
	KernelArgs: firstIsRoot,
	Pipelined:  true,
	Path:       toTwoTrees,
	MinSlots:   2,
	Steps:      "log2(N) + c for c chunks of a half",
	Cost:       "about (log2(N) + c) (alpha + (beta + 2 gamma) M/2c) for each tree, side by side: (N-1) M bytes in all",
	Source:     "Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009",
})
