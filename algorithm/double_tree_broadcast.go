package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// doubleTreeBroadcast sends one half of the vector down each of two binary trees over the ranks
// below the root. A rank forwards what it gets in one of them and is a leaf of the other. So each
// sends at most what it receives, and the root sends the vector once.
//
// A half goes in chunks, so that all levels work at the same time. A rank that is d below the root
// forwards chunk i in round i+d, which its parent has sent in the previous round. So no rank waits
// forever with n_slots of at least 2, as a rank forwards while it holds the slot that it received
// into.
func doubleTreeBroadcast(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	mine, out := a.Shard(me), a.Out(me, a.NElem)
	trees := rootedTrees(c, r, a)
	for round := range trees[0].rounds() {
		for half, t := range trees {
			i := round - t.depth
			if i < 0 || i >= t.chunks {
				continue
			}
			to := out.Chunk(2, half).Chunk(t.chunks, i)
			var v tl.Tensor
			if r.number == 0 {
				v = c.Load(mine.Chunk(2, half).Chunk(t.chunks, i))
			} else {
				v = c.Recv(t.up.from, to.Shape, a.DType)
			}
			for _, child := range t.down {
				c.Send(child.to, v)
			}
			if r.number > 0 || out.Addr != mine.Addr {
				c.Store(to, v)
			}
			c.Free(v)
		}
	}
}

// rootedTree is a rank's place in one of two trees under a root.
type rootedTree struct {
	up            branch // of all but the root
	down          []branch
	depth, height int // of the rank and of all below the root
	chunks        int
}

// branch is the directions to a neighbour in a tree and from it.
type branch struct{ to, from tl.Dir }

// rootedTrees are both, each for half of the vector: with as many chunks as the longer half has.
func rootedTrees(c *tl.Context, r rooted, a tl.Args) (trees [2]rootedTree) {
	height := topology.Hops(r.n) + 1
	for tree := range trees {
		t := rootedTree{height: height, chunks: pieces(c.ScratchBytes(), a, tl.CDiv(a.NElem, 2), height)}
		up, children := topology.TwoTreesUnderStep(r.number, r.n, tree)
		if up >= 0 {
			t.up = r.branch(up)
		}
		for _, child := range children {
			if child >= 0 {
				t.down = append(t.down, r.branch(child))
			}
		}
		for ; up >= 0; t.depth++ {
			up, _ = topology.TwoTreesUnderStep(up, r.n, tree)
		}
		trees[tree] = t
	}
	return trees
}

// branch returns the path from the root to a rank, and back.
func (r rooted) branch(peer int) (b branch) {
	b.to, _ = topology.Hop(r.number, peer, r.n)
	_, b.from = topology.Hop(peer, r.number, r.n)
	return b
}

// rounds returns how many it takes until all chunks are at the lowest leaf.
func (t rootedTree) rounds() int { return t.chunks + t.height }

// underTwoTrees returns the path of one half of the vector to one of the lowest leaves.
func underTwoTrees(world, root int) Path {
	var longest []int
	for rank := range world {
		var up []int
		for at := rank; at >= 0; at, _ = topology.TwoTreesUnderStep(at, world, 0) {
			up = append(up, rooted{root: root, n: world}.rank(at))
		}
		if len(up) > len(longest) {
			longest = up
		}
	}
	return backwards(Path{Ranks: longest, Parts: 2, Stages: topology.Hops(world) + 1})
}

// DoubleTreeBroadcast has the steps of a tree and the bytes of a chain.
var DoubleTreeBroadcast = Register(Algorithm{
	Name:       "double_tree_broadcast",
	Summary:    "half of the vector down each of two binary trees, in chunks: few steps, and all ranks send and receive at the rate of a link",
	Collective: "broadcast",
	Topology:   "circulant",
	Kernel:     doubleTreeBroadcast,
	KernelArgs: firstIsRoot,
	Pipelined:  true,
	Path:       underTwoTrees,
	MinSlots:   2,
	Steps:      "log2(N) + c for c chunks of a half",
	Cost:       "about (log2(N) + c) (alpha + beta M/2c) for each tree, side by side: (N-1) M bytes in all",
	Source:     "Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009",
})
