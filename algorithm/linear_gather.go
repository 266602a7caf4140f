package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// linearGather lets every rank put its vector into its slot of the root's window. The root first
// notifies all that it has begun, because puts overwrite the data of an earlier call. It copies the
// slots out in rank order.
func linearGather(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	data, signals := scratch(c, a, r.n*a.NElem)
	begun, came, use := row(c, signals, 0).At(r.root), row(c, signals, 1), a.Use(r.root)
	slot := data.Chunk(r.n, me)
	c.UseChannels(a.TransferChannels)
	if me != r.root {
		awaitWord(c, begun, use)
		c.PutSignal(slot, r.root, a.Shard(me), came.At(me), tl.SignalAdd, 1)
		return
	}
	for i := 1; i < r.n; i++ {
		notify(c, begun, r.rank(i))
	}
	move(c, c.Local(slot), a.Shard(me)) // the result may take its place
	for i := range r.n {
		from := r.rank(i)
		if i > 0 {
			awaitWord(c, came.At(from), use)
		}
		move(c, a.OutBlock(me, r.n*a.NElem, r.n, from), c.Local(data.Chunk(r.n, from)))
	}
}

// LinearGather lets the root take from every rank.
var LinearGather = Register(Algorithm{
	Name:       "linear_gather",
	Summary:    "every rank puts its vector into the root's symmetric window, and the root copies the vectors out",
	Collective: "gather",
	Topology:   "none",
	Kernel:     linearGather,
	KernelArgs: firstIsRoot,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return slotsOf(world, nElem, t, 2, meshRow(world))
	},
	Steps:  "2",
	Cost:   "2 alpha + (N-1) beta M at the root's memory: M bytes and a notification per rank but the root, N-1 notifications of the root",
	Source: "the linear gather of MPI libraries: MPI_Gather, MPI: A Message-Passing Interface Standard 4.1, 6.5",
})
