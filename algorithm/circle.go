package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// circle is a ring of ranks in a grid, which gather or reduce n parts in memory. Part k belongs to
// rank k. Long parts are sent tile by tile, all in as many tiles as the longest, so that all ranks
// take the same steps.
//
// Parallel circles use different directions, and all send before any receives.
type circle struct {
	c        *tl.Context
	to, from tl.Dir
	me, n    int // place in the ring, counted in the direction of the messages
	part     func(k int) tl.Ref
	quarter  int       // of the parts, where four go side by side
	hand     tl.Tensor // what it sends next
	brings   tl.Tensor // what it adds to what comes
}

// tile is tile i of part k: empty where the part is shorter than others.
func (r *circle) tile(k, i int) tl.Ref { return strip(r.part(k), i) }

// tiles returns the number of tiles of the longest part.
func (r *circle) tiles() int { return longestInTiles(r.part, r.n) }

// gatherRound lets every rank, which has its own part in memory, get those of all others.
func gatherRound(rs ...*circle) {
	eachTile(rs, func(r *circle, i int) {
		r.hand = r.c.Load(r.tile(r.me, i))
	}, func(r *circle, _, _ int) {
		r.c.Send(r.to, r.hand)
	}, func(r *circle, step, i int) {
		_, k := topology.RingGatherStep(r.me-1, step, r.n)
		r.c.Free(r.hand)
		to := r.tile(k, i)
		r.hand = r.c.Recv(r.from, to.Shape, to.DType)
		r.c.Store(to, r.hand)
	}, func(r *circle, _ int) {
		r.c.Free(r.hand)
	})
}

// reduceRound adds up part k of all ranks, along the ring from rank k+1 to rank k. Rank k gets the
// sum tile by tile.
func reduceRound(op tl.ReduceOp, take func(r *circle, i int, sum tl.Tensor), rs ...*circle) {
	eachTile(rs, func(r *circle, i int) {
		r.hand = r.c.Load(r.tile((r.me+r.n-1)%r.n, i))
	}, func(r *circle, step, i int) {
		_, k := topology.RingStep(r.me-1, step, r.n)
		r.brings = r.c.Load(r.tile(k, i)) // comes in while the message is in flight
		r.c.Send(r.to, r.hand)
		r.c.Free(r.hand)
	}, func(r *circle, _, _ int) {
		r.hand = r.c.Combine(op, r.brings, r.c.Recv(r.from, r.brings.Shape(), r.brings.DType()))
		r.c.Free(r.brings)
	}, func(r *circle, i int) {
		take(r, i, r.hand)
		r.c.Free(r.hand)
	})
}

// eachTile takes the steps of a round for each tile: all send before any receives.
func eachTile(rs []*circle, begin func(r *circle, i int), send, recv func(r *circle, step, i int), end func(r *circle, i int)) {
	most, longest := 0, 0
	for _, r := range rs {
		most, longest = max(most, r.tiles()), max(longest, r.n-1)
	}
	for i := range most {
		for _, r := range rs {
			begin(r, i)
		}
		for step := range longest {
			for _, r := range rs {
				if step < r.n-1 {
					send(r, step, i)
				}
			}
			for _, r := range rs {
				if step < r.n-1 {
					recv(r, step, i)
				}
			}
		}
		for _, r := range rs {
			end(r, i)
		}
	}
}
