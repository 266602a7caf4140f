package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowReduceScatterPush is windowReduceScatter by puts instead of loads. Every rank puts each
// chunk of its vector into its slot at the owner, with a signal. It then adds up its own chunk and
// those of the others, in ascending order of their ranks.
func windowReduceScatterPush(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, n*largest(a, n))
	came, use := row(c, signals, 0), a.Use(0)
	slot := func(owner, from int) tl.Sym { return data.Chunk(n, from).Slice(0, packed(a, n, owner).N) }
	give(c, int64(largest(a, n))*int64(a.DType.Size()), func(to int) (tl.Sym, tl.Ref) { return slot(to, me), a.InBlock(me, n, to) }, came)
	addUp(c, a.Op, a.Out(me, packed(a, n, me).N), a.InBlock(me, n, me), func(from int, wait bool) tl.Sym {
		if wait {
			awaitWord(c, came.At(from), use)
		}
		return slot(me, from)
	})
}

// give puts a part of what this rank has into a slot of each of the others, with a signal. Short
// parts go one after the other, from the next rank on, so that no rank gets two at a time. Long
// parts go side by side.
func give(c *tl.Context, longest int64, part func(to int) (slot tl.Sym, src tl.Ref), came tl.Signal) {
	me, n := c.Rank(), c.WorldSize()
	if longest > tileBytes {
		pushEach(c, part, came)
		return
	}
	for i := 1; i < n; i++ {
		to := (me + i) % n
		slot, src := part(to)
		c.PutSignal(slot, to, src, came.At(me), tl.SignalAdd, 1)
	}
}

// addUp stores the sum of this rank's contribution and of those received from the others. It waits
// for them in ascending order. In floating point that order is part of the result.
func addUp(c *tl.Context, op tl.ReduceOp, dst, own tl.Ref, came func(from int, wait bool) tl.Sym) {
	me, n := c.Rank(), c.WorldSize()
	if own.Bytes() > tileBytes {
		from := []tl.Ref{own}
		for rank := range n {
			if rank != me {
				from = append(from, c.Local(came(rank, true)))
			}
		}
		reduceLong(c, op, dst, from)
		return
	}
	for i := range strips(own, 1) { // at least one: a rank with nothing to add waits, too
		acc := c.Load(strip(own, i))
		for from := range n {
			if from != me {
				acc = join(c, op, acc, c.Load(strip(c.Local(came(from, i == 0)), i)))
			}
		}
		c.Store(strip(dst, i), c.Finish(op, acc, n))
	}
}

// WindowReduceScatterPush needs one message latency: no rank reads remote data.
var WindowReduceScatterPush = Register(Algorithm{
	Name:       "window_reduce_scatter_push",
	Summary:    "every rank puts each chunk into its owner's symmetric window, where it is added up: one message delay, for short vectors",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     windowReduceScatterPush,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return slotsOf(world, tl.CDiv(nElem, max(1, world)), t, 1, meshRow(world))
	},
	Steps:  "N-1 puts side by side",
	Cost:   "alpha + (N-1) beta M/N + N gamma M/N: (N-1)/N M bytes and N-1 notifications per rank",
	Source: "scatter and local reduction of github.com/ByteDance-Seed/Triton-distributed (tutorial 05), by puts with signals",
})
