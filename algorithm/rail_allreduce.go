package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// railAllReduce is for nodes of L ranks. A rail joins the ranks with the same index in their node.
// Each rank owns the slice of its index and moves it, piece by piece, through three stages:
//
//  1. load the piece of all ranks of the node, combine, and put each rail neighbour's part of the
//     sum into its window;
//  2. combine what the rail neighbours have put with the rank's part, put the result to them, and
//     store it to all ranks of the node;
//  3. store to all ranks of the node what the rail neighbours have put here.
//
// Stage 2 lags behind stage 1 by some pieces, and stage 3 lags behind stage 2 by as many. So the
// links of the node and the rails are busy at the same time. The lag is 3/4 of the pieces, at least
// railLag. Loads and stores use the same links of the node: side by side they take longer than in
// turn. The width of a node is innermost(levelWidths(c, a)).
//
// No rank touches the elements of another owner, so a result may replace its contribution. A node
// has a barrier before the first load and one after the last store. The window has a slot for each
// part of each piece, so that no rank waits for a free slot. Rows 0 and 1 of the signals are for
// the barriers. Piece t has row 2+2t for sums and row 3+2t for results, with a word for each node.
func railAllReduce(c *tl.Context, a tl.Args) {
	width := innermost(levelWidths(c, a))
	r := newRailCall(c, a, width)
	use := a.Use(0)
	r.barrier(0, use)
	lag := max(railLag, r.pieces*3/4)
	for t := range r.pieces + 2*lag {
		if t == r.pieces || t == r.pieces+lag {
			r.finish(0) // issue the puts of all jobs before this rank waits for a neighbour
		}
		if t < r.pieces {
			r.sumNode(t)
		}
		if k := t - lag; k >= 0 && k < r.pieces {
			r.sumRail(k)
		}
		if k := t - 2*lag; k >= 0 {
			r.spread(k)
		}
	}
	r.finish(0)
	r.barrier(1, use)
}

// railCall is a call of railAllReduce.
type railCall struct {
	*railPlan
	slice         func(v tl.Ref) tl.Ref
	sums, results tl.Sym
}

func newRailCall(c *tl.Context, a tl.Args, width int) *railCall {
	nodes := c.WorldSize() / width
	r := &railCall{railPlan: newRailPlan(c, a, width, tl.CDiv(a.NElem, width), nodes, tileToSelf, max(width, nodes), railAhead(width))}
	r.slice = func(v tl.Ref) tl.Ref { return v.Chunk(width, r.own) }
	slots := r.pieces * len(r.onRail) * r.slot
	data, signals := scratch(c, a, 2*slots)
	r.sums, r.results, r.signals = data.Slice(0, slots), data.Slice(slots, slots), signals
	return r
}

// part returns the part of a piece of the slice that belongs to a node.
func (r *railCall) part(v tl.Ref, t, node int) tl.Ref {
	return r.slice(v).Chunk(r.pieces, t).Chunk(len(r.onRail), node)
}

func (r *railCall) words(t, stage int) (tl.Signal, int) {
	return row(r.c, r.signals, 2+2*t+stage), r.uses[t]
}

// await finishes all jobs of a stage of piece t, and waits for the data of a rail neighbour. No
// rank waits for ever: the neighbour sends these data before it waits at this place of the loop.
func (r *railCall) await(t, stage, node int) {
	r.after(stage, t)
	words, use := r.words(t, stage)
	awaitWord(r.c, words.At(node), use)
}

// sumNode adds up piece t of the ranks of the node, for each node of the rail.
func (r *railCall) sumNode(t int) {
	c := r.c
	sumSignal, _ := r.words(t, 0)
	for k := range r.onRail {
		h := (r.at + 1 + k) % len(r.onRail) // this node's part last
		for i := range r.tiles {
			from := make([]tl.Ref, len(r.node))
			for j := range from { // in the order of ranks
				from[j] = r.tile(r.part(r.a.Shard(r.rank(j)), t, h), i)
			}
			r.run(from, func(loaded []tl.Tensor) {
				sum := r.sum(loaded)
				slot := r.slotOf(r.sums, t, r.at).Slice(min(i*r.per, r.slot), sum.Len())
				if h == r.at {
					c.Store(c.Local(slot), sum)
				} else {
					c.PutTensorSignal(slot, r.onRail[h], sum, sumSignal.At(r.at), tl.SignalAdd, 1)
				}
				c.Free(sum)
			})
		}
	}
	r.ended(0)
}

// sumRail adds up the rank's part of piece t of all nodes, and passes the result on.
func (r *railCall) sumRail(t int) {
	c := r.c
	resultSignal, _ := r.words(t, 1)
	for h := range r.onRail {
		if h != r.at {
			r.await(t, 0, h)
		}
	}
	out := r.part(r.a.Out(0, r.a.NElem), t, r.at)
	for i := range r.tiles {
		n := r.tile(out, i).Len()
		at := min(i*r.per, r.slot)
		from := make([]tl.Ref, len(r.onRail))
		for h := range r.onRail {
			from[h] = c.Local(r.slotOf(r.sums, t, h).Slice(at, n))
		}
		r.run(from, func(loaded []tl.Tensor) {
			sum := c.Finish(r.a.Op, r.sum(loaded), r.n)
			slot := r.slotOf(r.results, t, r.at).Slice(at, n)
			for k := 1; k < len(r.onRail); k++ {
				c.PutTensorSignal(slot, r.onRail[(r.at+k)%len(r.onRail)], sum, resultSignal.At(r.at), tl.SignalAdd, 1)
			}
			r.toNode(r.node, sum, r.outs(t, r.at, at))
			c.Free(sum)
		})
	}
	r.ended(1)
}

// outs returns a function: where a rank stores the result's part of a node, from element lo on.
func (r *railCall) outs(t, node, lo int) func(rank int) tl.Ref {
	return func(rank int) tl.Ref {
		part := r.part(r.a.Out(rank, r.a.NElem), t, node)
		return part.Slice(lo, part.Len()-lo)
	}
}

// spread stores to all ranks of the node the results of piece t that rail neighbours have put here.
func (r *railCall) spread(t int) {
	c := r.c
	for k := 1; k < len(r.onRail); k++ {
		h := (r.at - k + len(r.onRail)) % len(r.onRail)
		r.await(t, 1, h)
		out := r.part(r.a.Out(0, r.a.NElem), t, h)
		for i := range r.tiles {
			at := min(i*r.per, r.slot)
			r.run([]tl.Ref{c.Local(r.slotOf(r.results, t, h).Slice(at, r.tile(out, i).Len()))}, func(loaded []tl.Tensor) {
				r.toNode(r.node, loaded[0], r.outs(t, h, at))
				c.Free(loaded[0])
			})
		}
	}
}

// RailAllReduce keeps the links of a node and the rails between nodes busy at the same time.
var RailAllReduce = Register(Algorithm{
	Name:       "rail_allreduce",
	Summary:    "each rank of a node owns a slice: it sums the node's copies of its slice by loads, exchanges sums with its rail neighbours by puts, and stores results to the node, piece by piece, all at the same time",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     railAllReduce,
	OneNode:    DirectAllReduce,
	Pipelined:  true,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		rows := 2 + 2*railPieces
		if nElem < 0 || nElem > mem.MaxOffset/4 {
			return scratchLayout(world, nElem, t, rows, meshRow(world)) // which returns the error
		}
		return scratchLayout(world, 2*(nElem+2*railPieces*max(1, world)), t, rows, meshRow(world))
	},
	Steps:  "2 barriers; for H nodes of L ranks and P pieces: P rounds of H L loads, 2(H-1) puts and H L stores",
	Cost:   "max(2(L-1)/L beta_node, 2(H-1)/(H L) beta_rail) M + 2 (alpha_node + alpha_rail) + pieces in flight",
	Source: "PXN and rail-aligned channels: NCCL 2.12; hierarchical all-reduce with overlapped levels: Cho, Finkler, Serrano, Kung, Hunter, BlueConnect, MLSys 2019",
})
