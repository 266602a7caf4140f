package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// circle is a ring of ranks in a grid, which gather or reduce n parts in memory. Part k belongs to
// rank k. Parts are sent tile by tile. All parts have as many tiles as the longest part, so all
// ranks take the same steps.
//
// Parallel circles use different directions, and all send before any receives.
type circle struct {
	c        *tl.Context
	to, from tl.Dir
	me, n    int // place in the ring, counted in the direction of the messages
	part     func(k int) tl.Ref
	quarter  int       // which quarter of the data the parts are, if four circles run in parallel
	next     tl.Tensor // tile that this rank sends next
	own      tl.Tensor // tile of this rank that is added to the next received one
}

// tile is tile i of part k: empty where the part is shorter than others.
func (r *circle) tile(k, i int) tl.Ref { return strip(r.part(k), i) }

// tiles returns the number of tiles of the longest part.
func (r *circle) tiles() int { return longestInTiles(r.part, r.n) }

// gatherRound gives every rank the parts of all others. At the start, a rank has its own part in
// memory.
func gatherRound(rs ...*circle) {
	eachTile(rs, func(r *circle, i int) {
		r.next = r.c.Load(r.tile(r.me, i))
	}, func(r *circle, _, _ int) {
		r.c.Send(r.to, r.next)
	}, func(r *circle, step, i int) {
		_, k := topology.RingGatherStep(r.me-1, step, r.n)
		r.c.Free(r.next)
		to := r.tile(k, i)
		r.next = r.c.Recv(r.from, to.Shape, to.DType)
		r.c.Store(to, r.next)
	}, func(r *circle, _ int) {
		r.c.Free(r.next)
	})
}

// reduceRound adds up part k of all ranks, along the ring from rank k+1 to rank k. Rank k gets the
// sum tile by tile.
func reduceRound(op tl.ReduceOp, take func(r *circle, i int, sum tl.Tensor), rs ...*circle) {
	eachTile(rs, func(r *circle, i int) {
		r.next = r.c.Load(r.tile((r.me+r.n-1)%r.n, i))
	}, func(r *circle, step, i int) {
		_, k := topology.RingStep(r.me-1, step, r.n)
		r.own = r.c.Load(r.tile(k, i)) // this load overlaps with the flight of the message
		r.c.Send(r.to, r.next)
		r.c.Free(r.next)
	}, func(r *circle, _, _ int) {
		r.next = r.c.Combine(op, r.own, r.c.Recv(r.from, r.own.Shape(), r.own.DType()))
		r.c.Free(r.own)
	}, func(r *circle, i int) {
		take(r, i, r.next)
		r.c.Free(r.next)
	})
}

// eachTile takes the steps of a round for each tile: all send before any receives.
func eachTile(rs []*circle, begin func(r *circle, i int), send, recv func(r *circle, step, i int), end func(r *circle, i int)) {
	tiles, steps := 0, 0
	for _, r := range rs {
		tiles, steps = max(tiles, r.tiles()), max(steps, r.n-1)
	}
	for i := range tiles {
		for _, r := range rs {
			begin(r, i)
		}
		for step := range steps {
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
