package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// railAllReduce is for nodes of L ranks whose ranks at one place are joined by a rail. Each rank
// owns the slice of its place and moves it, piece by piece, through three stages:
//
//  1. load the piece of all ranks of the node, combine, and put each rail neighbour's part of the
//     sum into its window;
//  2. combine what the rail neighbours have put with the own part, put the result to them, and
//     store it to all ranks of the node;
//  3. store what the rail neighbours have put to all ranks of the node.
//
// Stage 2 of a piece runs railLag pieces behind stage 1, and stage 3 as many behind stage 2. So the
// links of the node and the rails are busy at the same time. Nodes are the innermost level of
// hierarchicalAllReduce.
//
// No rank touches the elements of another owner, so a result may replace its contribution. The
// ranks of a node meet before the first load and after the last store. The window has a slot for
// each part of each piece, so that no rank waits for a free slot. Rows 0 and 1 of the signals are
// for the meetings. Piece t has row 2+2t for sums and row 3+2t for results, with a word for each
// node.
func railAllReduce(c *tl.Context, a tl.Args) {
	width := innermost(levelWidths(c, a))
	if width == c.WorldSize() {
		directAllReduce(c, a)
		return
	}
	r := newRail(c, a, width)
	use := a.Use(0)
	r.meet(0, use)
	for t := range r.pieces + 2*railLag {
		if t < r.pieces {
			r.sumNode(t)
		}
		if k := t - railLag; k >= 0 && k < r.pieces {
			r.sumRail(k)
		}
		if k := t - 2*railLag; k >= 0 {
			r.spread(k)
		}
	}
	r.finish(0)
	r.meet(1, use)
}

const (
	railLag    = 6  // pieces between two stages
	railPieces = 32 // at most

	// railPiece is the length of a piece unless the launch says one: on a rail of 50 GB/s it takes
	// about as long as the latency of a put.
	railPiece = 512 << 10
)

// rail is a call of railAllReduce.
type rail struct {
	c    *tl.Context
	a    tl.Args
	n    int
	node []int // the ranks of this node, from the next one on
	rail []int // the ranks of this place, by node
	at   int   // this node

	pieces, slot  int // number of pieces, and elements of the largest part of a piece
	tiles, per    int // tiles of each part, and elements of the largest tile
	slice         func(v tl.Ref) tl.Ref
	sums, results tl.Sym
	signals       tl.Signal
	uses          []int // value of the words of each piece after this call: each tile adds 1

	ahead   int // jobs that are under way at the same time
	waiting []railJob
	started int      // jobs so far
	behind  [2][]int // number of jobs up to the end of a piece, by stage and piece
}

// railJob is a tile: its loads are under way, and use combines and passes them on.
type railJob struct {
	came []tl.Tensor
	use  func(came []tl.Tensor)
}

func newRail(c *tl.Context, a tl.Args, width int) *rail {
	me, n := c.Rank(), c.WorldSize()
	r := &rail{c: c, a: a, n: n, at: me / width}
	place := me % width
	for _, k := range fromNext(place, width) {
		r.node = append(r.node, me-place+k)
	}
	for h := range n / width {
		r.rail = append(r.rail, h*width+place)
	}
	r.slice = func(v tl.Ref) tl.Ref { return v.Chunk(width, place) }
	longest := tl.CDiv(a.NElem, width)
	r.pieces = railCount(a, longest)
	r.slot = tl.CDiv(tl.CDiv(longest, r.pieces), len(r.rail))
	slots := r.pieces * len(r.rail) * r.slot
	data, signals := scratch(c, a, 2*slots)
	r.sums, r.results, r.signals = data.Slice(0, slots), data.Slice(slots, slots), signals
	r.ahead = max(1, loadsAhead/len(r.node))
	bytes := min(tileToSelf, int(c.ScratchBytes())/2/(max(len(r.node), len(r.rail))*(r.ahead+1)))
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

// railCount is the number of pieces of a slice.
func railCount(a tl.Args, elems int) int {
	bytes := int64(elems) * int64(a.DType.Size())
	long := a.ChunkBytes
	if long == 0 {
		long = railPiece
	}
	return int(max(1, min(railPieces, (bytes+long-1)/long)))
}

// part is the part of a piece of the slice that belongs to a node.
func (r *rail) part(v tl.Ref, t, node int) tl.Ref {
	return r.slice(v).Chunk(r.pieces, t).Chunk(len(r.rail), node)
}

// place returns the slot for a part of a piece.
func (r *rail) place(in tl.Sym, t, node int) tl.Sym {
	return in.Slice((t*len(r.rail)+node)*r.slot, r.slot)
}

func (r *rail) words(t, stage int) (tl.Signal, int) {
	return row(r.c, r.signals, 2+2*t+stage), r.uses[t]
}

// tile is tile i of a part: shorter than the others, or empty, where the part ends.
func (r *rail) tile(part tl.Ref, i int) tl.Ref {
	lo := min(i*r.per, part.Len())
	return part.Slice(lo, min(r.per, part.Len()-lo))
}

// meet waits until all ranks of the node have come to this call and their stores are complete.
func (r *rail) meet(i, use int) {
	words := row(r.c, r.signals, i)
	r.c.PipeBarrier()
	for _, to := range r.node {
		tell(r.c, words.At(r.c.Rank()), to) // this rank too
	}
	awaitWord(r.c, words.Slice(r.rank(0), len(r.node)), use)
}

// run starts the loads of a job. Before, it finishes jobs until fewer than ahead are left.
func (r *rail) run(from []tl.Ref, use func(came []tl.Tensor)) {
	r.finish(r.ahead - 1)
	came := make([]tl.Tensor, len(from))
	for i, f := range from {
		came[i] = r.c.Load(f)
	}
	r.waiting = append(r.waiting, railJob{came, use})
	r.started++
}

// ended marks the end of a stage of the next piece.
func (r *rail) ended(stage int) { r.behind[stage] = append(r.behind[stage], r.started) }

// await finishes all jobs of a stage of piece t, and waits for the data of a rail neighbour. No
// rank waits for ever: the neighbour sends these data before it waits at this place of the loop.
func (r *rail) await(t, stage, node int) {
	r.finish(r.started - r.behind[stage][t])
	words, use := r.words(t, stage)
	awaitWord(r.c, words.At(node), use)
}

// finish uses the data of the oldest jobs, until left jobs remain.
func (r *rail) finish(left int) {
	for len(r.waiting) > left {
		job := r.waiting[0]
		r.waiting = r.waiting[1:]
		job.use(job.came)
	}
}

// sum combines tensors in their order, and frees them.
func (r *rail) sum(ts []tl.Tensor) tl.Tensor {
	sum := ts[0]
	for _, t := range ts[1:] {
		next := r.c.Combine(r.a.Op, sum, t)
		r.c.Free(t)
		r.c.Free(sum)
		sum = next
	}
	return sum
}

// sumNode adds up piece t of the ranks of the node, for each node of the rail.
func (r *rail) sumNode(t int) {
	c := r.c
	given, _ := r.words(t, 0)
	for i := range r.rail {
		h := (r.at + 1 + i) % len(r.rail) // the own part last
		for i := range r.tiles {
			from := make([]tl.Ref, len(r.node))
			for j := range from { // in the order of ranks
				from[j] = r.tile(r.part(r.a.Shard(r.rank(j)), t, h), i)
			}
			r.run(from, func(came []tl.Tensor) {
				sum := r.sum(came)
				slot := r.place(r.sums, t, r.at).Slice(min(i*r.per, r.slot), sum.Len())
				if h == r.at {
					c.Store(c.Local(slot), sum)
				} else {
					c.PutTensorSignal(slot, r.rail[h], sum, given.At(r.at), tl.SignalAdd, 1)
				}
				c.Free(sum)
			})
		}
	}
	r.ended(0)
}

// rank is the j-th rank of the node.
func (r *rail) rank(j int) int { return r.at*len(r.node) + j }

// sumRail adds up the own part of piece t of all nodes, and passes the result on.
func (r *rail) sumRail(t int) {
	c := r.c
	done, _ := r.words(t, 1)
	for h := range r.rail {
		if h != r.at {
			r.await(t, 0, h)
		}
	}
	out := r.part(r.a.Out(0, r.a.NElem), t, r.at)
	for i := range r.tiles {
		n := r.tile(out, i).Len()
		at := min(i*r.per, r.slot)
		from := make([]tl.Ref, len(r.rail))
		for h := range r.rail {
			from[h] = c.Local(r.place(r.sums, t, h).Slice(at, n))
		}
		r.run(from, func(came []tl.Tensor) {
			sum := c.Finish(r.a.Op, r.sum(came), r.n)
			slot := r.place(r.results, t, r.at).Slice(at, n)
			for i := 1; i < len(r.rail); i++ {
				c.PutTensorSignal(slot, r.rail[(r.at+i)%len(r.rail)], sum, done.At(r.at), tl.SignalAdd, 1)
			}
			r.toNode(t, r.at, at, sum)
			c.Free(sum)
		})
	}
	r.ended(1)
}

// toNode stores a tile of a result to all ranks of the node.
func (r *rail) toNode(t, node, lo int, sum tl.Tensor) {
	for at, k := range cut(sum.Len(), pieceToEach, r.a.DType) {
		for _, to := range r.node {
			r.c.Store(r.part(r.a.Out(to, r.a.NElem), t, node).Slice(lo+at, k), sum.Slice(at, k))
		}
	}
}

// spread stores the results of piece t that the rail neighbours have put to all ranks of the node.
func (r *rail) spread(t int) {
	c := r.c
	for i := 1; i < len(r.rail); i++ {
		h := (r.at - i + len(r.rail)) % len(r.rail)
		r.await(t, 1, h)
		out := r.part(r.a.Out(0, r.a.NElem), t, h)
		for i := range r.tiles {
			at := min(i*r.per, r.slot)
			r.run([]tl.Ref{c.Local(r.place(r.results, t, h).Slice(at, r.tile(out, i).Len()))}, func(came []tl.Tensor) {
				r.toNode(t, h, at, came[0])
				c.Free(came[0])
			})
		}
	}
}

// RailAllReduce keeps the links of a node and the rails between nodes busy at the same time.
var RailAllReduce = Register(Algorithm{
	Name:       "rail_allreduce",
	Summary:    "each rank of a node owns a slice: it adds up that of the node by loads, exchanges sums with its rail neighbours by puts, and stores results to the node, piece by piece, all at the same time",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     railAllReduce,
	Pipelined:  true,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		rows := 2 + 2*railPieces
		if nElem < 0 || nElem > mem.MaxOffset/4 {
			return scratchLayout(world, nElem, t, rows, meshRow(world)) // which returns the error
		}
		return scratchLayout(world, 2*(nElem+2*railPieces*max(1, world)), t, rows, meshRow(world))
	},
	Steps:  "2 barriers; for H nodes of L ranks and P pieces: P rounds of L loads, 2(H-1) puts and L stores",
	Cost:   "max(2(L-1)/L beta_node, 2(H-1)/(H L) beta_rail) M + 2 (alpha_node + alpha_rail) + pieces in flight",
	Source: "PXN and rail-aligned channels: NCCL 2.12; hierarchical all-reduce with overlapped levels: Cho, Finkler, Serrano, Kung, Hunter, BlueConnect, MLSys 2019",
})
