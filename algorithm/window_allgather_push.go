package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllGatherPush is windowAllGather with puts. Every rank puts its vector into its slot of
// every copy of the window, with a word that notifies its arrival. It takes the vectors out of its
// own copy in the order in which they are sent. There is no barrier, so it takes one message
// latency.
func windowAllGatherPush(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, n*a.NElem)
	came, use := row(c, signals, 0), a.Use(0)
	pushToAll(c, data.Chunk(n, me), a.Shard(me), came)
	keep(c, a.OutBlock(me, n*a.NElem, n, me), a.Shard(me))
	for i := 1; i < n; i++ {
		from := (me - i + n) % n
		awaitWord(c, came.At(from), use)
		move(c, a.OutBlock(me, n*a.NElem, n, from), c.Local(data.Chunk(n, from)))
	}
}

// pushToAll puts this rank's data into a slot of all others, with the word of this rank. It starts
// at the next rank, so that no rank gets two messages at a time.
func pushToAll(c *tl.Context, slot tl.Sym, src tl.Ref, came tl.Signal) {
	give(c, src.Bytes(), func(int) (tl.Sym, tl.Ref) { return slot, src }, came)
}

// pushEach puts a long part of this rank's data into a slot of each of the others, in parallel, in
// pieces. So a wait for one rank does not delay the others. The word of this rank follows.
func pushEach(c *tl.Context, part func(to int) (slot tl.Sym, src tl.Ref), came tl.Signal) {
	me, n := c.Rank(), c.WorldSize()
	longest, size := 0, 1
	for i := 1; i < n; i++ {
		_, src := part((me + i) % n)
		longest, size = max(longest, src.Len()), src.DType.Size()
	}
	per := max(1, min(tileToOthers, int(c.ScratchBytes())/(4*n))/size)
	type piece struct {
		to   int
		slot tl.Sym
		t    tl.Tensor
	}
	var ahead []piece
	put := func() {
		p := ahead[0]
		c.PutTensor(p.slot, p.to, p.t)
		c.Free(p.t)
		ahead = ahead[1:]
	}
	for lo := 0; lo < longest; lo += per {
		for i := 1; i < n; i++ {
			to := (me + i) % n
			slot, src := part(to)
			if k := min(per, src.Len()-lo); k > 0 {
				ahead = append(ahead, piece{to, slot.Slice(lo, k), c.Load(src.Slice(lo, k))})
			}
			if len(ahead) >= min(n, loadsAhead) {
				put()
			}
		}
	}
	for len(ahead) > 0 {
		put()
	}
	c.Fence() // at each destination the data come before the word
	for i := 1; i < n; i++ {
		notify(c, came.At(me), (me+i)%n)
	}
}

// WindowAllGatherPush takes one message latency.
var WindowAllGatherPush = Register(Algorithm{
	Name:       "window_allgather_push",
	Summary:    "every rank puts its vector into the symmetric window of all others, which take it out: one message delay, for short vectors",
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
