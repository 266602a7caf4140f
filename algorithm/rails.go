package algorithm

import (
	"kernbench/mem"
	"kernbench/tl"
)

// This file is shared by the kernels for nodes with rails: rail_*. A rail joins the ranks with the
// same index in their node. A vector is cut into pieces. A piece goes over the rail as tiles, each
// a put with a signal. Its slot of the window is only for this piece. So no rank waits for a free
// slot, and the links of the node carry one piece while the rails carry another. The signals of a
// piece count its tiles.

const (
	railLag    = 6  // pieces between two stages
	railPieces = 32 // at most

	// railPiece is the length of a piece unless the launch sets one. On a rail of 50 GB/s it takes
	// about as long as the latency of a put.
	railPiece = 512 << 10
)

// railPlan holds the ranks of a call by node and rail, its pieces, and the tiles that are in
// flight.
type railPlan struct {
	c      *tl.Context
	a      tl.Args
	n      int
	node   []int // the ranks of this node, from the next one on
	onRail []int // the ranks with this index in their node, by node
	at     int   // this node
	own    int   // index of this rank in its node

	pieces, slot int // number of pieces, and elements of the largest part of a piece
	tiles, per   int // tiles of each part, and elements of the largest tile
	signals      tl.Signal
	uses         []int // value of the words of each piece after this call: each tile adds 1

	ahead   int // jobs that are in flight at the same time
	first   int // of the loads of a job; 0, or the next place: then no memory is asked by all at once
	waiting []railJob
	started int     // jobs so far
	behind  [][]int // number of jobs up to the end of a piece, by stage and piece
}

// railJob is a tile: its loads are in flight, and use combines and passes them on.
type railJob struct {
	loaded []tl.Tensor
	use    func(loaded []tl.Tensor)
}

// newRailPlan divides vectors of at most longest elements into pieces, and these into parts. Each
// job loads at most widest tiles, of at most most bytes.
func newRailPlan(c *tl.Context, a tl.Args, width, longest, parts, most, widest, ahead int) *railPlan {
	me, n := c.Rank(), c.WorldSize()
	r := &railPlan{c: c, a: a, n: n, at: me / width, own: me % width, ahead: ahead}
	for _, k := range fromNext(r.own, width) {
		r.node = append(r.node, me-r.own+k)
	}
	for h := range n / width {
		r.onRail = append(r.onRail, h*width+r.own)
	}
	r.pieces = railCount(a, longest)
	r.slot = tl.CDiv(tl.CDiv(longest, r.pieces), parts)
	bytes := min(most, int(c.ScratchBytes())/2/(widest*(ahead+1)))
	r.per = max(1, bytes/a.DType.Size())
	r.tiles = max(1, tl.CDiv(r.slot, r.per))
	for t := range r.pieces {
		use := 0
		for range r.tiles {
			use = a.Use(1 + t)
		}
		if a.Uses == nil {
			use = r.tiles
		}
		r.uses = append(r.uses, use)
	}
	return r
}

// railAhead returns the number of jobs in flight that load a tile from each rank of a node. While
// the tiles of one are combined, those of the next are on their way.
func railAhead(width int) int { return max(2, loadsAhead/width) }

// railCount returns the number of pieces of a vector.
func railCount(a tl.Args, elems int) int {
	bytes := int64(elems) * int64(a.DType.Size())
	long := a.ChunkBytes
	if long == 0 {
		long = railPiece
	}
	return int(max(1, min(railPieces, (bytes+long-1)/long)))
}

// railSlots returns the number of elements in the slots of vectors of n elements.
func railSlots(n, vectors int) int {
	if n < 0 || n > mem.MaxOffset/4/max(1, vectors) {
		return n // a window of n elements is refused
	}
	return vectors * (n + railPieces)
}

// slotOf returns the slot for a part of a piece.
func (r *railPlan) slotOf(in tl.Sym, t, part int) tl.Sym {
	return in.Slice((t*len(r.onRail)+part)*r.slot, r.slot)
}

// tile is tile i of a part: shorter than the others, or empty, where the part ends.
func (r *railPlan) tile(part tl.Ref, i int) tl.Ref {
	lo := min(i*r.per, part.Len())
	return part.Slice(lo, min(r.per, part.Len()-lo))
}

// barrier waits until all ranks of the node have made this call and their stores are complete.
func (r *railPlan) barrier(i, use int) {
	words := row(r.c, r.signals, i)
	r.c.PipeBarrier()
	for _, to := range r.node {
		notify(r.c, words.At(r.c.Rank()), to) // this rank too
	}
	awaitWord(r.c, words.Slice(r.rank(0), len(r.node)), use)
}

// rank returns the j-th rank of the node.
func (r *railPlan) rank(j int) int { return r.at*len(r.node) + j }

// run starts the loads of a job. Before, it finishes jobs until fewer than ahead are left.
func (r *railPlan) run(from []tl.Ref, use func(loaded []tl.Tensor)) {
	r.finish(r.ahead - 1)
	loaded := make([]tl.Tensor, len(from))
	for i := range from {
		i = (r.first + i) % len(from)
		loaded[i] = r.c.Load(from[i])
	}
	r.waiting = append(r.waiting, railJob{loaded, use})
	r.started++
}

// ended marks the end of a stage of the next piece.
func (r *railPlan) ended(stage int) {
	for len(r.behind) <= stage {
		r.behind = append(r.behind, nil)
	}
	r.behind[stage] = append(r.behind[stage], r.started)
}

// after finishes all jobs of a stage of piece t.
func (r *railPlan) after(stage, t int) { r.finish(r.started - r.behind[stage][t]) }

// finish uses the data of the oldest jobs, until left jobs remain.
func (r *railPlan) finish(left int) {
	for len(r.waiting) > left {
		job := r.waiting[0]
		r.waiting = r.waiting[1:]
		job.use(job.loaded)
	}
}

// sum combines tensors in their order, and frees them.
func (r *railPlan) sum(ts []tl.Tensor) tl.Tensor {
	sum := ts[0]
	for _, t := range ts[1:] {
		next := r.c.Combine(r.a.Op, sum, t)
		r.c.Free(t)
		r.c.Free(sum)
		sum = next
	}
	return sum
}

// toNode stores a tile to one place of each of some ranks.
func (r *railPlan) toNode(ranks []int, tile tl.Tensor, to func(rank int) tl.Ref) {
	for at, k := range cut(tile.Len(), pieceToEach, r.a.DType) {
		for _, rank := range ranks {
			r.c.Store(to(rank).Slice(at, k), tile.Slice(at, k))
		}
	}
}

// slotTile is tile i, of n elements, of the slot for a part of a piece.
func (r *railPlan) slotTile(in tl.Sym, t, part, i, n int) tl.Sym {
	return r.slotOf(in, t, part).Slice(min(i*r.per, r.slot), n)
}

// put gives a rail neighbour tile i of a piece, in the slot of this node.
func (r *railPlan) put(in tl.Sym, t, node, i int, tile tl.Tensor, word tl.Signal) {
	r.c.PutTensorSignal(r.slotTile(in, t, r.at, i, tile.Len()), r.onRail[node], tile, word, tl.SignalAdd, 1)
}
