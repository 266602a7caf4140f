package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllReduceTwoPhasePush is windowReduceScatterPush and windowAllGatherPush: chunks go to
// their owners, which add them up and put the sums into every copy of the window. There is no
// barrier: it takes two message delays.
//
// The window has a slot for the data of each rank, and after the slots space for the result. Row 0
// of the signals is for contributions, row 1 for sums.
func windowAllReduceTwoPhasePush(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	most := tl.CDiv(a.NElem, n)
	data, signals := scratch(c, a, n*most+a.NElem)
	slots, result := data.Slice(0, n*most), data.Slice(n*most, a.NElem)
	given, summed, use := row(c, signals, 0), row(c, signals, 1), a.Use(0)
	mine, out := a.Shard(me), a.Out(me, a.NElem)
	slot := func(owner, from int) tl.Sym {
		return slots.Slice(from*most, mem.ChunkOf(a.NElem, n, owner).N)
	}
	give(c, int64(most)*int64(a.DType.Size()), func(to int) (tl.Sym, tl.Ref) { return slot(to, me), mine.Chunk(n, to) }, given)
	own := c.Local(result.Chunk(n, me))
	addUp(c, a.Op, own, mine.Chunk(n, me), func(from int, wait bool) tl.Sym {
		if wait {
			awaitWord(c, given.At(from), use)
		}
		return slot(me, from)
	})
	c.PipeBarrier() // the sum is there before it is sent
	pushToAll(c, result.Chunk(n, me), own, summed)
	move(c, out.Chunk(n, me), own)
	for i := 1; i < n; i++ {
		from := (me - i + n) % n
		awaitWord(c, summed.At(from), use)
		move(c, out.Chunk(n, from), c.Local(result.Chunk(n, from)))
	}
}

// WindowAllReduceTwoPhasePush takes two message delays.
var WindowAllReduceTwoPhasePush = Register(Algorithm{
	Name:       "window_allreduce_twophase_push",
	Summary:    "every rank puts each chunk into its owner's symmetric window, where it is added up, and owners put sums into the windows of all: two message delays",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceTwoPhasePush,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		n := max(1, world)
		if nElem > mem.MaxOffset/4 {
			return scratchLayout(world, nElem, t, 2, meshRow(world)) // which returns the error
		}
		return scratchLayout(world, n*tl.CDiv(nElem, n)+nElem, t, 2, meshRow(world))
	},
	Steps:  "N-1 puts side by side, twice",
	Cost:   "2 (alpha + (N-1) beta M/N) + gamma M: 2(N-1)/N M bytes and 2(N-1) notifications per rank",
	Source: "the two-shot push of github.com/ByteDance-Seed/Triton-distributed (kernels/nvidia/allreduce.py), with signals for its barriers",
})
