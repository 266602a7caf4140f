package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// ring is a call of a kernel over a window whose ranks form a ring. An all-reduce is a
// reduce-scatter and an all-gather, by reads or by puts. Each half of it is here once, for the
// kernels that are both and for those that are one.
type ring struct {
	c               *tl.Context
	a               tl.Args
	me, n           int
	left, right     int
	data            tl.Sym
	chunk           func(k int) tl.Sym // chunk k of N: all ranks have them in the same places
	signals         tl.Signal
	use, roundsDone int
	counted         int // place among the window's uses of a row that serves all rounds; 0: each round has a row
}

// newRing returns the ring of a call.
func newRing(c *tl.Context, a tl.Args, elems int, chunk func(data tl.Sym, k int) tl.Sym) *ring {
	me, n := c.Rank(), c.WorldSize()
	r := &ring{c: c, a: a, me: me, n: n, left: (me + n - 1) % n, right: (me + 1) % n, use: a.Use(0)}
	r.data, r.signals = scratch(c, a, elems)
	r.chunk = func(k int) tl.Sym { return chunk(r.data, (k+2*n)%n) }
	return r
}

// ofVector returns a ring on the chunks of a vector that every rank brings, all of it staged.
func ofVector(c *tl.Context, a tl.Args) *ring {
	r := newRing(c, a, a.NElem, func(data tl.Sym, k int) tl.Sym { return data.Chunk(c.WorldSize(), k) })
	move(c, c.Local(r.data), a.Shard(r.me))
	return r
}

// ofBlocks returns a ring on the blocks that every rank brings, all of them staged.
func ofBlocks(c *tl.Context, a tl.Args) *ring {
	n := c.WorldSize()
	r := newRing(c, a, inputElems(a, n), func(data tl.Sym, k int) tl.Sym {
		b := packed(a, n, k)
		return data.Slice(b.Lo, b.N)
	})
	stageBlocks(c, a, n, r.data)
	return r
}

// ofSlots returns a ring on slots for the vectors of all ranks, with the rank's own vector in its
// slot.
func ofSlots(c *tl.Context, a tl.Args) *ring {
	n := c.WorldSize()
	r := newRing(c, a, n*a.NElem, func(data tl.Sym, k int) tl.Sym { return data.Chunk(n, k) })
	move(c, c.Local(r.chunk(r.me)), a.Shard(r.me))
	return r
}

// round begins a round: the words that are set in it, and what they come to. A ring has a row for
// each of its rounds, if the window has such a layout. Otherwise it has one row, whose words count
// rounds over this call and earlier ones.
func (r *ring) round() (row tl.Signal, use int) {
	r.roundsDone++
	switch {
	case r.counted == 0:
		return r.signals.At((r.roundsDone - 1) * ringRow), r.use
	case r.a.Uses == nil:
		return r.signals, r.roundsDone
	}
	return r.signals, r.a.Use(r.counted)
}

// syncLeft ends a round by reads. When it notifies the right neighbour, this rank's stores are
// complete, and its reads from the left have arrived. Then it waits for the left neighbour.
func (r *ring) syncLeft() {
	r.c.PipeBarrier()
	row, use := r.round()
	notify(r.c, row.At(fromLeft), r.right)
	awaitWord(r.c, row.At(fromLeft), use)
}

// syncBoth ends a round by puts: it notifies both neighbours, and waits for both.
func (r *ring) syncBoth() {
	row, use := r.round()
	notify(r.c, row.At(fromLeft), r.right)
	if r.left != r.right {
		notify(r.c, row.At(fromRight), r.left)
	}
	awaitWord(r.c, row.At(fromLeft), use)
	if r.left != r.right {
		awaitWord(r.c, row.At(fromRight), use)
	}
}

// reduceByReads adds, step by step, a chunk of the left neighbour to the rank's own. Chunk k is
// combined along the ring from rank k+1 to rank k, where it ends.
func (r *ring) reduceByReads() {
	for step := range r.n - 1 {
		r.syncLeft()
		_, k := topology.RingStep(r.me-1, step, r.n)
		chunk := r.chunk(k)
		for lo, length := range tiles(chunk.Len(), r.a.DType) {
			part := chunk.Slice(lo, length)
			acc := join(r.c, r.a.Op, r.c.Load(r.c.At(part, r.left)), r.c.Load(r.c.Local(part)))
			if k == r.me {
				acc = r.c.Finish(r.a.Op, acc, r.n)
			}
			r.c.Store(r.c.Local(part), acc)
			r.c.Free(acc)
		}
	}
}

// gatherByReads keeps, step by step, a chunk of the left neighbour, from that of the left
// rank itself on.
func (r *ring) gatherByReads() {
	for step := range r.n - 1 {
		r.syncLeft()
		_, k := topology.RingGatherStep(r.me-1, step, r.n)
		chunk := r.chunk(k)
		move(r.c, r.c.Local(chunk), r.c.At(chunk, r.left))
	}
}

// halves returns the two halves of a chunk: one goes right, the other left.
func (r *ring) halves(right, left int) (east, west tl.Sym) {
	return r.chunk(right).Chunk(2, 0), r.chunk(left).Chunk(2, 1)
}

// reduceByPuts combines, step by step, a half chunk into that of the right neighbour and one into
// that of the left. Both halves of chunk k end at rank k. The half that goes right was summed in
// the order k+1, k+2, ..., the other in the reverse order.
func (r *ring) reduceByPuts() {
	if r.n > 1 {
		r.c.PipeBarrier() // what was staged is complete before another rank combines into it
		r.syncBoth()
	}
	for s := 1; s < r.n; s++ {
		east, west := r.halves(r.me-s, r.me+s)
		r.c.PutCombine(east, r.right, r.c.Local(east), r.a.Op)
		r.c.PutCombine(west, r.left, r.c.Local(west), r.a.Op)
		r.c.Fence() // at each neighbour its half comes before the notification
		r.syncBoth()
	}
}

// gatherByPuts hands on, step by step, a half chunk to each side, from those of the rank's chunk
// on.
func (r *ring) gatherByPuts() {
	for s := 1; s < r.n; s++ {
		east, west := r.halves(r.me-s+1, r.me+s-1)
		r.c.Put(east, r.right, r.c.Local(east))
		r.c.Put(west, r.left, r.c.Local(west))
		r.c.Fence()
		r.syncBoth()
	}
}

// finish stores what came together in a window, divided where that is asked for.
func (r *ring) finish(dst tl.Ref, src tl.Sym) {
	for lo, length := range tiles(src.Len(), r.a.DType) {
		sum := r.c.Load(r.c.Local(src.Slice(lo, length)))
		r.c.Store(dst.Slice(lo, length), r.c.Finish(r.a.Op, sum, r.n))
	}
}
