package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// railReduceScatter adds up in each node what is for the ranks of one place, and sends it over
// their rail. Chunks go in pieces:
//
//  1. load a piece of each rail neighbour's chunk from all ranks of the node, combine, and put the
//     sum to that neighbour;
//  2. when all neighbours have theirs, do so with the rank's chunk, whose sums stay, and add to
//     them what the neighbours have put, ownLag pieces later.
//
// A node has a barrier before the first load and one after the last load. In place, results wait
// for that in the window. It has a slot for each piece of each node's sum. Rows 0 and 1 of the
// signals are for the barriers. Piece t has row 2+t, with a word for each node.
func railReduceScatter(c *tl.Context, a tl.Args) {
	width := innermost(levelWidths(c, a))
	me, n := c.Rank(), c.WorldSize()
	longest := 0
	for j := range n {
		longest = max(longest, packed(a, n, j).N)
	}
	nodes := n / width
	r := newRailPlan(c, a, width, longest, 1, tileToSelf, max(width, nodes), railAhead(width))
	elems := packed(a, n, me).N
	slots := nodes * r.pieces * r.slot
	data, signals := scratch(c, a, slots+elems)
	r.signals = signals
	out, kept := a.Out(me, elems), c.Local(data.Slice(slots, elems))
	if a.Outs != nil {
		kept = out
	}
	sumNode := func(t, h int, use func(i int, sum tl.Tensor)) {
		for i := range r.tiles {
			from := make([]tl.Ref, width)
			for k := range from { // in the order of ranks
				from[k] = r.tile(a.InBlock(r.rank(k), n, r.onRail[h]).Chunk(r.pieces, t), i)
			}
			r.run(from, func(loaded []tl.Tensor) {
				sum := r.sum(loaded)
				use(i, sum)
				c.Free(sum)
			})
		}
	}
	r.first = r.own + 1
	use := a.Use(0)
	r.barrier(0, use)
	for t := range r.pieces {
		for j := range nodes - 1 {
			h := (r.at + 1 + j) % nodes
			sumNode(t, h, func(i int, sum tl.Tensor) { r.put(data, t, h, i, sum, row(c, signals, 2+t).At(r.at)) })
		}
	}
	for t := range r.pieces + ownLag {
		if t < r.pieces {
			sumNode(t, r.at, func(i int, sum tl.Tensor) { c.Store(c.Local(r.slotTile(data, t, r.at, i, sum.Len())), sum) })
			r.ended(0)
		}
		if k := t - ownLag; k >= 0 {
			r.after(0, k) // no rank waits for ever: all have put their pieces before they wait
			for h := range nodes {
				if h != r.at {
					awaitWord(c, row(c, signals, 2+k).At(h), r.uses[k])
				}
			}
			for i := range r.tiles {
				to := r.tile(kept.Chunk(r.pieces, k), i)
				from := make([]tl.Ref, nodes)
				for h := range from {
					from[h] = c.Local(r.slotTile(data, k, h, i, to.Len()))
				}
				r.run(from, func(loaded []tl.Tensor) {
					sum := c.Finish(a.Op, r.sum(loaded), n)
					c.Store(to, sum)
					c.Free(sum)
				})
			}
		}
	}
	r.finish(0)
	r.barrier(1, use)
	keep(c, out, kept)
}

// ownLag is the number of pieces by which the last sum of a chunk follows that of the rank's node.
const ownLag = 4

// RailReduceScatter lets one sum cross from each node for each rank, over the rail of that rank.
var RailReduceScatter = Register(Algorithm{
	Name:       "rail_reduce_scatter",
	Summary:    "each rank adds up what its node has for the ranks of its rail by loads, puts the sums to them, and adds up what they have put, piece by piece, all at the same time",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     railReduceScatter,
	OneNode:    DirectReduceScatter,
	Pipelined:  true,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, railSlots(tl.CDiv(nElem, max(1, world)), world+1), t, 2+railPieces, meshRow(world))
	},
	Steps:  "2 barriers; for H nodes of L ranks and P pieces: P rounds of H L loads and H-1 puts",
	Cost:   "max((L-1)/L beta_node, (H-1)/(H L) beta_rail) M + 2 alpha_node + alpha_rail + pieces in flight",
	Source: "PXN and rail-aligned channels: NCCL 2.12; reduce-scatter by node and rail at the same time: Cho, Finkler, Serrano, Kung, Hunter, BlueConnect, MLSys 2019",
})
