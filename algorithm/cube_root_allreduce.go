package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// cubeRootAllReduce reduces whole vectors level by level to a root. The first PE of a cube adds up
// the vectors of its cube, and the first cube's root those of all cubes. The result returns on the
// same path. Levels are those of hierarchicalAllReduce, and take the same numbers.
//
// While a root works, the other PEs of its cube are idle, with their links and memories. It is
// meant for comparison with hierarchicalAllReduce.
func cubeRootAllReduce(c *tl.Context, a tl.Args) {
	me := c.Rank()
	data, signals := scratch(c, a, a.NElem)
	use := a.Use(0)
	move(c, c.Local(data), a.Shard(me))

	stride, words := 1, signals
	var led []company // those whose root this rank is
	for _, n := range levelWidths(c, a) {
		if n == 1 {
			continue
		}
		g := company{c: c, data: data, root: me - me/stride%n*stride, stride: stride, n: n, words: words, use: use}
		if g.root != me {
			g.report()
			break
		}
		g.gatherUp(a.Op)
		led = append(led, g)
		stride, words = stride*n, words.At(n)
	}
	if me == 0 {
		for lo, n := range tiles(data.Len(), a.DType) {
			part := c.Local(data.Slice(lo, n))
			c.Store(part, c.Finish(a.Op, c.Load(part), c.WorldSize()))
		}
	}
	c.PipeBarrier() // the result is complete before any rank is notified
	for i := range led {
		led[len(led)-1-i].handDown()
	}
	move(c, a.Out(me, a.NElem), c.Local(data))
}

// company is a root and its members, stride ranks apart. In the root's copy of the window words
// 1 to n-1 are its members'; in a member's copy word 0 is its root's.
type company struct {
	c               *tl.Context
	data            tl.Sym
	root, stride, n int
	words           tl.Signal
	use             int
}

// report notifies the root that this member's sum is complete, and reads the result.
func (g company) report() {
	g.c.PipeBarrier()
	notify(g.c, g.words.At((g.c.Rank()-g.root)/g.stride), g.root)
	awaitWord(g.c, g.words.At(0), g.use)
	move(g.c, g.c.Local(g.data), g.c.At(g.data, g.root))
}

// gatherUp adds the members' sums to the root's.
func (g company) gatherUp(op tl.ReduceOp) {
	for i := 1; i < g.n; i++ {
		awaitWord(g.c, g.words.At(i), g.use)
	}
	for lo, n := range tiles(g.data.Len(), g.data.DType()) {
		part := g.data.Slice(lo, n)
		acc := g.c.Load(g.c.Local(part))
		for i := 1; i < g.n; i++ {
			acc = g.c.Combine(op, acc, g.c.Load(g.c.At(part, g.root+i*g.stride)))
		}
		g.c.Store(g.c.Local(part), acc)
	}
}

// handDown notifies the members that the result is complete.
func (g company) handDown() {
	for i := 1; i < g.n; i++ {
		notify(g.c, g.words.At(0), g.root+i*g.stride)
	}
}

// CubeRootAllReduce leaves all but one PE of a cube idle.
var CubeRootAllReduce = Register(Algorithm{
	Name:       "cube_root_allreduce",
	Summary:    "the first PE of each cube reads and adds up the vectors of its cube, the first PE of all adds up these sums, and the result returns on the same path: for comparison",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     cubeRootAllReduce,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world)) // all levels together have no more members than ranks
	},
	Steps:  "L-1 + N/L-1 reads by the root for cubes of L, 2 reads by others, a notification before each",
	Cost:   "2 alpha + (L-1 + N/L-1) (alpha + beta M) + 2 (2 alpha + beta M): 2(N-1) M bytes in all",
	Source: "the root of a cube for all its PEs: the hierarchical all-reduces of git.ywkang.dev/ywkang/kernbench2",
})
