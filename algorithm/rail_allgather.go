package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// railAllGather sends each vector over the rail of its rank to the other nodes, and there and in
// its own node from rank to rank. Vectors go in pieces:
//
//  1. load a piece of the rank's vector, put it to all rail neighbours, and store it to the node;
//  2. store what the rail neighbours have put to the node, railLag pieces later.
//
// A node has a barrier before the first store and one after the last store. The window has a slot
// for each piece of each rail neighbour. Rows 0 and 1 of the signals are for the barriers. Piece t
// has row 2+t, with a word for each node.
func railAllGather(c *tl.Context, a tl.Args) {
	width := innermost(levelWidths(c, a))
	r := newRailPlan(c, a, width, a.NElem, 1, tileToSelf, 1, copyDepth)
	data, signals := scratch(c, a, r.pieces*len(r.onRail)*r.slot)
	r.signals = signals
	me, use := c.Rank(), a.Use(0)
	out := func(t, h, i int) func(rank int) tl.Ref {
		return func(rank int) tl.Ref {
			return r.tile(a.OutBlock(rank, r.n*a.NElem, r.n, r.onRail[h]).Chunk(r.pieces, t), i)
		}
	}
	r.barrier(0, use)
	lack := r.node // the rank's vector
	if a.OutBlock(me, r.n*a.NElem, r.n, me).Addr == a.Shard(me).Addr {
		lack = r.node[:len(r.node)-1]
	}
	for t := range r.pieces + railLag {
		if t == r.pieces {
			r.finish(0) // no put waits until another one has arrived
		}
		if t < r.pieces {
			words := row(c, signals, 2+t)
			for i := range r.tiles {
				r.run([]tl.Ref{r.tile(a.Shard(me).Chunk(r.pieces, t), i)}, func(loaded []tl.Tensor) {
					for j := 1; j < len(r.onRail); j++ {
						r.put(data, t, (r.at+j)%len(r.onRail), i, loaded[0], words.At(r.at))
					}
					r.toNode(lack, loaded[0], out(t, r.at, i))
					c.Free(loaded[0])
				})
			}
			r.ended(0)
		}
		if k := t - railLag; k >= 0 {
			r.after(0, k) // no rank waits for ever: all have put this piece before they wait for it
			for j := 1; j < len(r.onRail); j++ {
				h := (r.at - j + len(r.onRail)) % len(r.onRail)
				awaitWord(c, row(c, signals, 2+k).At(h), r.uses[k])
				for i := range r.tiles {
					n := out(k, h, i)(me).Len()
					r.run([]tl.Ref{c.Local(r.slotTile(data, k, h, i, n))}, func(loaded []tl.Tensor) {
						r.toNode(r.node, loaded[0], out(k, h, i))
						c.Free(loaded[0])
					})
				}
			}
		}
	}
	r.finish(0)
	r.barrier(1, use)
}

// RailAllGather lets each vector cross to each node once, over the rail of its rank.
var RailAllGather = Register(Algorithm{
	Name:       "rail_allgather",
	Summary:    "each rank puts its vector to its rail neighbours, and stores it and what they have put to the ranks of its node, piece by piece, all at the same time",
	Collective: "all_gather",
	Topology:   "none",
	Kernel:     railAllGather,
	OneNode:    DirectAllGather,
	Pipelined:  true,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, railSlots(nElem, world), t, 2+railPieces, meshRow(world))
	},
	Steps:  "2 barriers; for H nodes of L ranks and P pieces: P rounds of H-1 puts and H L stores",
	Cost:   "max(H (L-1) beta_node, (H-1) beta_rail) M + 2 alpha_node + alpha_rail + pieces in flight",
	Source: "PXN and rail-aligned channels: NCCL 2.12; all-gather by node and rail at the same time: Cho, Finkler, Serrano, Kung, Hunter, BlueConnect, MLSys 2019",
})
