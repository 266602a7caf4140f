package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// railBroadcast gives each place of a node one share of the vector to carry over its rail. Shares
// go in pieces:
//
//  1. a rank of the root's node loads a piece of its share from the root, puts it to all rail
//     neighbours, and stores it to the node. The root's own share goes to the other nodes from the
//     root, and to its node by equal parts over all others;
//  2. a rank of another node stores what its rail neighbour has put to its node.
//
// Shares of railChain pieces go along a chain of nodes instead. A rank puts each piece to the next
// node only, and that node forwards it in stage 2. So each network card sends a share once.
//
// A node has a barrier before the first store and one after the last store. A rank that puts
// knows at the end that its rail neighbours have begun the call. The window has a slot for each
// piece of a share. Rows 0 and 1 of the signals are for the barriers, row 2 for that. Piece t has
// one word, in row 3+t.
func railBroadcast(c *tl.Context, a tl.Args) {
	width := innermost(widthsOf(c, a.Levels))
	root := fromRoot(c, a).root
	if a.ChunkBytes == 0 && width > usualNode {
		a.ChunkBytes = railPiece * usualNode / int64(width)
	}
	r := newRailPlan(c, a, width, tl.CDiv(a.NElem, width), 1, tileToOthers, 1, copyDepth)
	on := r.next(root / width)
	data, signals := scratch(c, a, r.pieces*r.slot)
	r.signals = signals
	me, use, started := c.Rank(), a.Use(0), row(c, signals, 2)
	for _, to := range r.onRail {
		notify(c, started.At(r.at), to)
	}
	r.barrier(0, use)
	if root/width == r.at {
		r.give(data, root, on)
	} else {
		for t := range r.pieces {
			awaitWord(c, r.arrived(t), r.uses[t])
			part := func(rank int) tl.Ref { return a.Out(rank, a.NElem).Chunk(width, r.own).Chunk(r.pieces, t) }
			for i := range r.tiles {
				to := func(rank int) tl.Ref { return r.tile(part(rank), i) }
				slot := data.Slice(t*r.slot+min(i*r.per, r.slot), to(me).Len())
				r.run([]tl.Ref{c.Local(slot)}, func(loaded []tl.Tensor) {
					for _, h := range on {
						c.PutTensorSignal(slot, r.onRail[h], loaded[0], r.arrived(t), tl.SignalAdd, 1)
					}
					r.toNode(r.node, loaded[0], to)
					c.Free(loaded[0])
				})
			}
		}
	}
	r.finish(0)
	r.barrier(1, use)
	awaitWord(c, started.Slice(0, len(r.onRail)), use)
}

// usualNode is the number of ranks of a node up to which pieces of a broadcast have the usual
// length. In a larger node a rank stores each piece to more ranks, so pieces are shorter. Else the
// last one would take long after its put.
const usualNode = 8

// arrived returns the word that counts the tiles of piece t which have arrived.
func (r *railPlan) arrived(t int) tl.Signal { return row(r.c, r.signals, 3+t).At(0) }

// railChain is the number of pieces of a share from which on it goes along a chain of nodes. The
// latency of a put is about that of two pieces on a rail.
const railChain = 4

// next lists the nodes to which this one puts pieces.
func (r *railPlan) next(root int) (nodes []int) {
	last := len(r.onRail) - 1
	after := (r.at - root + len(r.onRail)) % len(r.onRail) // 0 is the root's node
	switch {
	case r.pieces >= railChain && after < last:
		nodes = []int{(r.at + 1) % len(r.onRail)}
	case r.pieces < railChain && after == 0:
		for j := 1; j <= last; j++ {
			nodes = append(nodes, (r.at+j)%len(r.onRail))
		}
	}
	return nodes
}

// give carries out stage 1. All ranks count the tiles of a piece, so a rank that gets none counts
// them here.
func (r *railPlan) give(data tl.Sym, root int, to []int) {
	c, a, width := r.c, r.a, len(r.node)
	var others []int // ranks that lack the vector
	for _, rank := range r.node {
		if rank != root || a.Outs != nil {
			others = append(others, rank)
		}
	}
	vector := a.Shard(root)
	for t := range r.pieces {
		c.Notify(r.arrived(t), c.Rank(), tl.SignalAdd, int64(r.tiles))
		for i := range r.tiles {
			part := func(v tl.Ref) tl.Ref { return r.tile(v.Chunk(width, r.own).Chunk(r.pieces, t), i) }
			r.run([]tl.Ref{part(vector)}, func(loaded []tl.Tensor) {
				slot := data.Slice(t*r.slot+min(i*r.per, r.slot), loaded[0].Len())
				for _, h := range to {
					c.PutTensorSignal(slot, r.onRail[h], loaded[0], r.arrived(t), tl.SignalAdd, 1)
				}
				if c.Rank() != root {
					r.toNode(others, loaded[0], func(rank int) tl.Ref { return part(a.Out(rank, a.NElem)) })
				}
				c.Free(loaded[0])
			})
		}
	}
	owner := (r.own - root%width + width) % width // 1 is after the root
	for t := range r.pieces {
		for i := range r.tiles {
			if owner == 0 {
				break
			}
			share := func(v tl.Ref) tl.Ref {
				return r.tile(v.Chunk(width, root%width).Chunk(width-1, owner-1).Chunk(r.pieces, t), i)
			}
			r.run([]tl.Ref{share(vector)}, func(loaded []tl.Tensor) {
				r.toNode(others, loaded[0], func(rank int) tl.Ref { return share(a.Out(rank, a.NElem)) })
				c.Free(loaded[0])
			})
		}
	}
	if c.Rank() == root && width == 1 && a.Outs != nil {
		keep(c, a.Out(root, a.NElem), vector)
	}
}

// RailBroadcast uses all rails of the root's node at once.
var RailBroadcast = Register(Algorithm{
	Name:       "rail_broadcast",
	Summary:    "each rank of the root's node loads a share from the root, puts it to its rail neighbours and stores it to its node; each rank of another node stores its share to its node",
	Collective: "broadcast",
	Topology:   "none",
	Kernel:     railBroadcast,
	OneNode:    DirectBroadcast,
	KernelArgs: firstIsRoot,
	Pipelined:  true,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, railSlots(nElem, 1), t, 3+railPieces, meshRow(world))
	},
	Steps:  "2 barriers; for H nodes of L ranks and P pieces: P rounds of a load, a put and L stores, then H-2 of a put, and L stores; fewer than 4 pieces: H-1 puts at once",
	Cost:   "max(beta_node, beta_rail/L) M + 3 alpha_node + (H-1) alpha_rail + pieces in flight; fewer than 4 pieces: (H-1)/L beta_rail, alpha_rail",
	Source: "scatter and all-gather: Barnett, Shuler, van de Geijn, Gupta, Payne, Watts, InterCom, SHPCC 1994; over all network cards of a node: PXN and rail-aligned channels, NCCL 2.12",
})
