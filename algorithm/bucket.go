package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// bucket is a vector that n ranks reduce and gather on a ring, in n chunks (the bucket algorithm).
// Parallel buckets use different directions, so that their messages are in flight at the same time.
//
// A rank sends on while it holds the slot that it received into: n_slots must be at least 2.
type bucket struct {
	c        *tl.Context
	op       tl.ReduceOp
	to, from tl.Dir
	me, n    int // place in the ring, in the direction of the buckets

	result tl.Ref                // of all n chunks
	own    func(k int) tl.Tensor // what this rank brings to chunk k
	brings tl.Tensor             // to the chunk that comes next
	part   tl.Tensor             // the chunk that it sends next
}

// ofMemory sets a contribution in memory, and the place of the result.
func (b *bucket) ofMemory(v, result tl.Ref) *bucket {
	b.result, b.own = result, chunksInMemory(b.c, v, b.n)
	return b
}

// after takes the current chunk of another bucket as its contribution, and its result becomes part
// of that bucket.
func (b *bucket) after(first *bucket) *bucket {
	b.result, b.own = first.mine(), chunksInHand(first.part, b.n)
	return b
}

// mine returns the chunk that this rank holds when all are reduced.
func (b *bucket) mine() tl.Ref { return b.result.Chunk(b.n, (b.me+1)%b.n) }

// reduceBuckets takes n-1 steps. In each a rank sends its current chunk, and adds its contribution
// to the chunk that arrives. It loads its contribution while the message is in flight.
func reduceBuckets(bs ...*bucket) {
	for _, b := range bs {
		b.part = b.own(b.me)
	}
	steps(bs, func(b *bucket, step int) {
		_, k := topology.RingStep(b.me, step, b.n)
		b.brings = b.own(k)
		b.c.Send(b.to, b.part)
	}, func(b *bucket, _ int) {
		got := b.c.Recv(b.from, b.brings.Shape(), b.brings.DType())
		b.part = b.c.Combine(b.op, b.brings, got)
	})
}

// finishBuckets ends a reduction over all ranks, and stores the chunk in hand.
func finishBuckets(bs ...*bucket) {
	for _, b := range bs {
		b.part = b.c.Finish(b.op, b.part, b.c.WorldSize())
		b.c.Store(b.mine(), b.part)
	}
}

// gatherBuckets takes n-1 steps, too: the complete chunks go once round.
func gatherBuckets(bs ...*bucket) {
	steps(bs, func(b *bucket, _ int) {
		b.c.Send(b.to, b.part)
	}, func(b *bucket, step int) {
		_, k := topology.RingGatherStep(b.me, step, b.n)
		chunk := b.result.Chunk(b.n, k)
		b.part = b.c.Recv(b.from, chunk.Shape, chunk.DType)
		b.c.Store(chunk, b.part)
	})
}

// takeBuckets loads the current chunk again, after others have completed it in memory.
func takeBuckets(bs ...*bucket) {
	for _, b := range bs {
		if b.n > 1 {
			b.part = b.c.Load(b.mine())
		}
	}
}

// steps lets all buckets send before any receives, in each of their steps.
func steps(bs []*bucket, send, recv func(b *bucket, step int)) {
	most := 0
	for _, b := range bs {
		most = max(most, b.n-1)
	}
	for step := range most {
		for _, b := range bs {
			if step < b.n-1 {
				send(b, step)
			}
		}
		for _, b := range bs {
			if step < b.n-1 {
				recv(b, step)
			}
		}
	}
}
