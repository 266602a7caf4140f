package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// linearScatter lets the root put each rank's block into that rank's window. Every rank first
// notifies the root that it has begun, because the put overwrites the data of an earlier call.
func linearScatter(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	m := a.NElem / r.n
	data, signals := scratch(c, a, m)
	c.UseChannels(a.TransferChannels)
	begun, came, use := row(c, signals, 0), row(c, signals, 1).At(r.root), a.Use(r.root)
	if me != r.root {
		notify(c, begun.At(me), r.root)
		awaitWord(c, came, use)
		move(c, a.Out(me, m), c.Local(data))
		return
	}
	for i := 1; i < r.n; i++ {
		to := r.rank(i)
		awaitWord(c, begun.At(to), use)
		c.PutSignal(data, to, a.InBlock(me, r.n, to), came, tl.SignalAdd, 1)
	}
	keep(c, a.Out(me, m), a.InBlock(me, r.n, me))
}

// LinearScatter lets the root put to every rank.
var LinearScatter = Register(Algorithm{
	Name:       "linear_scatter",
	Summary:    "the root puts each block into its receiver's symmetric window",
	Collective: "scatter",
	Topology:   "none",
	Kernel:     linearScatter,
	KernelArgs: firstIsRoot,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, tl.CDiv(nElem, max(1, world)), t, 2, meshRow(world))
	},
	Steps:  "2",
	Cost:   "2 alpha + (N-1) beta M/N at the root: (N-1)/N M bytes and N-1 notifications of the root, one of each other",
	Source: "the linear scatter of MPI libraries: MPI_Scatter, MPI: A Message-Passing Interface Standard 4.1, 6.6",
})
