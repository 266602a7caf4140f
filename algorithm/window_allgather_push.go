package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllGatherPush is windowAllGather the other way round: every rank puts its vector into its
// slot of every copy of the window, each with the word that says that it is there, and takes out
// of its own copy what has come, in the order in which it is sent. There is no barrier: one way is
// all that it takes.
func windowAllGatherPush(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, n*a.NElem)
	came, use := row(c, signals, 0), a.Use(0)
	pushToAll(c, data.Chunk(n, me), a.Shard(me), came)
	keep(c, a.OutBlock(me, n*a.NElem, n, me), a.Shard(me))
	for i := 1; i < n; i++ {
		from := (me - i + n) % n
		heed(c, came.At(from), use)
		move(c, a.OutBlock(me, n*a.NElem, n, from), c.Local(data.Chunk(n, from)))
	}
}

// pushToAll puts what lies here into a slot of all others, from the next rank on, so that no rank
// gets two messages at a time, with the word of this rank.
func pushToAll(c *tl.Context, slot tl.Sym, src tl.Ref, came tl.Signal) {
	me, n := c.Rank(), c.WorldSize()
	for i := 1; i < n; i++ {
		c.PutSignal(slot, (me+i)%n, src, came.At(me), tl.SignalAdd, 1)
	}
}

// WindowAllGatherPush takes one way.
var WindowAllGatherPush = Register(Algorithm{
	Name:       "window_allgather_push",
	Summary:    "every rank puts its vector into the symmetric window of all others, which take it out: one way, for short vectors",
	Collective: "all_gather",
	Topology:   "none",
	Kernel:     windowAllGatherPush,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return slotsOf(world, nElem, t, 1, meshRow(world))
	},
	Steps:  "N-1 puts side by side",
	Cost:   "alpha + (N-1) beta M: (N-1) M bytes and N-1 notifications per rank",
	Source: "the full-mesh push of github.com/ByteDance-Seed/Triton-distributed (tutorials 02 and 03)",
})
