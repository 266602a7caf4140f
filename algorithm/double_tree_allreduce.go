package algorithm

import (
	"math/bits"

	"kernbench/tl"
	"kernbench/topology"
)

// doubleTreeAllReduce reduces and broadcasts one half of the vector on each of two binary trees.
// Nearly every rank is a leaf of one of them, so both together use the links in both directions. A
// half is sent in chunks, so that all levels of a tree work at the same time.
//
// In round i a leaf sends chunk i up. Each level takes a round, for a common height h. A rank which
// is d below the root passes chunk i up in round i+h-d. It hands the sum down in round i+h+d. All
// that a rank waits for happens in an earlier round, or in the same one nearer to the root, or to
// the leaves. So with n_slots of at least 2 no rank waits forever. With one slot a rank that sends
// up may hold up a parent that sends down.
func doubleTreeAllReduce(c *tl.Context, a tl.Args) {
	h, height := channelOf(c, &a), bits.Len(uint(c.WorldSize()))
	var trees [2]chunkedTree
	for i := range trees {
		trees[i] = newChunkedTree(c, a, i, height)
		trees[i].at(i, h.me, h.n)
	}
	reduceOnTrees(&trees, height)
}

// reduceOnTrees takes all chunks up and down both trees, of a common height.
func reduceOnTrees(trees *[2]chunkedTree, height int) {
	for round := range max(trees[0].chunks, trees[1].chunks) + 2*height {
		for i := range trees {
			trees[i].up(round - height + trees[i].depth)
		}
		for i := range trees {
			trees[i].down(round - height - trees[i].depth)
		}
	}
}

// chunkedTree is a rank's place in one of the trees, with half of the vector.
type chunkedTree struct {
	c        *tl.Context
	op       tl.ReduceOp
	parent   tl.Dir
	children []tl.Dir
	depth    int    // below the root
	half     tl.Ref // of the vector
	out      tl.Ref // and of the result
	chunks   int
	reduced  tl.Tensor // of the root: the chunk that is complete
}

// newChunkedTree returns a tree without neighbours. Its height determines the number of chunks.
func newChunkedTree(c *tl.Context, a tl.Args, tree, height int) chunkedTree {
	h := channelOf(c, &a)
	t := chunkedTree{c: c, op: a.Op, parent: topology.TwoTreeDirs[tree].Parent, half: h.share(a.Shard(c.Rank())).Chunk(2, tree),
		out: h.share(a.Out(c.Rank(), a.NElem)).Chunk(2, tree)}
	t.chunks = pieces(c.ScratchBytes(), a, t.half.Len(), 2*height) // height levels up and as many down
	return t
}

// at gives the tree the neighbours and the depth of place me of n.
func (t *chunkedTree) at(tree, me, n int) {
	up, children := topology.TwoTreeStep(me, n, tree)
	for k, child := range children {
		if child >= 0 {
			t.children = append(t.children, topology.TwoTreeDirs[tree].Children[k])
		}
	}
	for ; up >= 0; t.depth++ {
		up, _ = topology.TwoTreeStep(up, n, tree)
	}
}

func (t *chunkedTree) chunk(i int) tl.Ref { return t.half.Chunk(t.chunks, i) }

// up adds chunk i of the children to that of the rank, and passes the sum on.
func (t *chunkedTree) up(i int) {
	if i < 0 || i >= t.chunks {
		return
	}
	sum := t.c.Load(t.chunk(i))
	for _, dir := range t.children {
		sum = t.c.Combine(t.op, sum, t.c.Recv(dir, sum.Shape(), sum.DType()))
	}
	if t.depth > 0 {
		t.c.Send(t.parent, sum)
		return
	}
	t.reduced = t.c.Finish(t.op, sum, t.c.WorldSize())
}

// down takes chunk i of the result from the parent, and passes it on. The root has it from
// the same round.
func (t *chunkedTree) down(i int) {
	if i < 0 || i >= t.chunks {
		return
	}
	result := t.reduced
	if t.depth > 0 {
		result = t.c.Recv(t.parent, t.chunk(i).Shape, t.half.DType)
	}
	for _, dir := range t.children {
		t.c.Send(dir, result)
	}
	t.c.Store(t.out.Chunk(t.chunks, i), result)
}

// DoubleTreeAllReduce has the steps of a tree and nearly the bytes of a ring.
var DoubleTreeAllReduce = Register(Algorithm{
	Name:       "double_tree_allreduce",
	Summary:    "half of the vector on each of two binary trees, in chunks, so that all ranks and levels are busy",
	Collective: "all_reduce",
	Topology:   "two_trees",
	Kernel:     doubleTreeAllReduce,
	Rails:      true,
	Pipelined:  true,
	Path:       firstOfTwoTrees,
	MinSlots:   2,
	Steps:      "2 log2(N) + k - 1 for k chunks per tree",
	Cost:       "about 2 log2(N) alpha + 2 beta M, and the filling of the pipeline: 2(N-1) M bytes in all",
	Source:     "Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009; the trees: NCCL 2.4",
})
