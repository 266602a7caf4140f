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
//  2. combine what the rail neighbours have put with the rank's part, put the result to them, and
//     store it to all ranks of the node;
//  3. store what the rail neighbours have put to all ranks of the node.
//
// Stage 2 lags behind stage 1 by some pieces, and stage 3 lags behind stage 2 by as many. So the
// links of the node and the rails are busy at the same time. The lag is most of the pieces. Loads
// and stores use the same links of the node: side by side they take longer than in turn. Nodes are
// the innermost level of hierarchicalAllReduce.
//
// No rank touches the elements of another owner, so a result may replace its contribution. A node
// has a barrier before the first load and one after the last store. The window has a slot for each
// part of each piece, so that no rank waits for a free slot. Rows 0 and 1 of the signals are for
// the barriers. Piece t has row 2+2t for sums and row 3+2t for results, with a word for each node.
func railAllReduce(c *tl.Context, a tl.Args) {
	width := innermost(levelWidths(c, a))
	r := newRail(c, a, width)
	use := a.Use(0)
	r.barrier(0, use)
	lag := max(railLag, r.pieces*3/4)
	for t := range r.pieces + 2*lag {
		if t == r.pieces || t == r.pieces+lag {
			r.finish(0) // no put waits until another one has arrived
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

// rail is a call of railAllReduce.
type rail struct {
	*rails
	slice         func(v tl.Ref) tl.Ref
	sums, results tl.Sym
}

func newRail(c *tl.Context, a tl.Args, width int) *rail {
	nodes := c.WorldSize() / width
	r := &rail{rails: newRails(c, a, width, tl.CDiv(a.NElem, width), nodes, tileToSelf, max(width, nodes), railAhead(width))}
	r.slice = func(v tl.Ref) tl.Ref { return v.Chunk(width, r.own) }
	slots := r.pieces * len(r.rail) * r.slot
	data, signals := scratch(c, a, 2*slots)
	r.sums, r.results, r.signals = data.Slice(0, slots), data.Slice(slots, slots), signals
	return r
}

// part returns the part of a piece of the slice that belongs to a node.
func (r *rail) part(v tl.Ref, t, node int) tl.Ref {
	return r.slice(v).Chunk(r.pieces, t).Chunk(len(r.rail), node)
}

func (r *rail) words(t, stage int) (tl.Signal, int) {
	return row(r.c, r.signals, 2+2*t+stage), r.uses[t]
}

// await finishes all jobs of a stage of piece t, and waits for the data of a rail neighbour. No
// rank waits for ever: the neighbour sends these data before it waits at this place of the loop.
func (r *rail) await(t, stage, node int) {
	r.after(stage, t)
	words, use := r.words(t, stage)
	awaitWord(r.c, words.At(node), use)
}

// sumNode adds up piece t of the ranks of the node, for each node of the rail.
func (r *rail) sumNode(t int) {
	c := r.c
	given, _ := r.words(t, 0)
	for i := range r.rail {
		h := (r.at + 1 + i) % len(r.rail) // the rank's part last
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

// sumRail adds up the rank's part of piece t of all nodes, and passes the result on.
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
			r.toNode(r.node, sum, r.outs(t, r.at, at))
			c.Free(sum)
		})
	}
	r.ended(1)
}

// outs returns where ranks have a part of the result, from one of its elements on.
func (r *rail) outs(t, node, lo int) func(rank int) tl.Ref {
	return func(rank int) tl.Ref {
		part := r.part(r.a.Out(rank, r.a.NElem), t, node)
		return part.Slice(lo, part.Len()-lo)
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
				r.toNode(r.node, came[0], r.outs(t, h, at))
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
	OneNode:    DirectAllReduce,
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
