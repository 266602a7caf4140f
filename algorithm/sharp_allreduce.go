package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// sharpAllReduce is for nodes of L ranks. The ranks of a node are joined by a switch that reduces
// and copies, and so are the nodes. A vector is cut into pieces, and a piece into a slice for each
// place in a node. A rail is the ranks at one place of all nodes. Each piece k takes five steps:
//
//   - step k-1: it is staged in the window;
//   - step k: the rank of a place loads its slice, combined by the switch of the node. It stores
//     the result into its own copy of the slice, which no other rank reads;
//   - step k+1: each rank of a rail takes a share of the slice. The switches over the nodes combine
//     the copies of the share, and store the result into a slot of all ranks of the rail;
//   - step k+2: the rank of a place stores the slice to all ranks of its node at once;
//   - step k+3: it is taken out of the window.
//
// Each step begins with a barrier of the node and one of the rail. Pieces use two slots in turn: a
// slot is filled in step k+1 and read in step k+2.
func sharpAllReduce(c *tl.Context, a tl.Args) {
	width := innermost(levelWidths(c, a))
	newSharp(c, a, width, sharpPieces(int64(a.NElem)*int64(a.DType.Size()))).run()
}

// sharp is a call of sharpAllReduce.
type sharp struct {
	c *tl.Context
	a tl.Args
	node
	inside, over     *mem.Group // the node, and the rail
	data, slots      tl.Sym
	slot             int // elements of a slot
	pieces           int
	inNode, overRail *rounds
}

// Steps after a piece was staged.
const (
	sharpShare = 1
	sharpStore = 2
	sharpTake  = 3
)

// sharpPieces returns the number of pieces of a vector.
func sharpPieces(bytes int64) int { return nvlsPieces(sharpTake * bytes) }

// sharpSlot returns the number of elements of the longest slice.
func sharpSlot(nElem, pieces, width int) int { return tl.CDiv(tl.CDiv(nElem, pieces), width) }

func newSharp(c *tl.Context, a tl.Args, width, pieces int) *sharp {
	n := nodeOf(c.Rank(), c.WorldSize(), width)
	s := &sharp{c: c, a: a, node: n, pieces: pieces, slot: sharpSlot(a.NElem, pieces, width)}
	s.inside, s.over = c.Group(a.Window(0), n.ranks...), c.Group(a.Window(0), n.rail...)
	data, signals := scratch(c, a, a.NElem+2*s.slot)
	s.data, s.slots = data.Slice(0, a.NElem), data.Slice(a.NElem, 2*s.slot)
	s.inNode = &rounds{c: c, a: a, row: row(c, signals, 0), peers: without(n.ranks, c.Rank())}
	s.overRail = &rounds{c: c, a: a, row: row(c, signals, 1), use: 1, peers: without(n.rail, c.Rank())}
	return s
}

func (s *sharp) run() {
	perform(s.c, s.stage(0))
	last := s.pieces - 1 + sharpTake
	for step := range last + 1 {
		if step == 0 || step == last { // only ranks of the node have staged or stored data since
			s.inNode.barrier()
		} else {
			barrierRows(s.inNode, s.overRail)
		}
		perform(s.c, s.reduce(step), s.share(step-sharpShare), s.store(step-sharpStore), s.stage(step+1), s.take(step-sharpTake))
	}
}

// hasPiece reports whether the call has a piece k.
func (s *sharp) hasPiece(k int) bool { return k >= 0 && k < s.pieces }

// stage copies piece k into the window.
func (s *sharp) stage(k int) *stream {
	if !s.hasPiece(k) {
		return &stream{}
	}
	return copying(s.c, s.c.Local(s.data.Chunk(s.pieces, k)), s.a.Shard(s.c.Rank()).Chunk(s.pieces, k))
}

// take copies piece k out of the window.
func (s *sharp) take(k int) *stream {
	if !s.hasPiece(k) {
		return &stream{}
	}
	return copying(s.c, s.a.Out(s.c.Rank(), s.a.NElem).Chunk(s.pieces, k), s.c.Local(s.data.Chunk(s.pieces, k)))
}

// slice returns the rank's slice of piece k, and the slot for its result.
func (s *sharp) slice(k int) (slice, result tl.Sym) {
	slice = s.data.Chunk(s.pieces, k).Chunk(s.width, s.place)
	return slice, s.slots.Slice(k%2*s.slot, slice.Len())
}

// reduce combines the rank's slice of piece k in the node, and stores it into the rank's own copy.
func (s *sharp) reduce(k int) *stream {
	if !s.hasPiece(k) {
		return &stream{}
	}
	slice, _ := s.slice(k)
	return summing(s.c, nodeDepth, s.a.Op, slice.Among(s.inside), func(part tl.Sym, t tl.Tensor) { s.c.Store(s.c.Local(part), t) })
}

// share combines the rank's share of the slice over the rail, and stores it to all ranks of the
// rail.
func (s *sharp) share(k int) *stream {
	if !s.hasPiece(k) {
		return &stream{}
	}
	slice, result := s.slice(k)
	from, to := slice.Chunk(s.nodes, s.at).Among(s.over), result.Chunk(s.nodes, s.at).Among(s.over)
	l := &stream{}
	for lo, n := range tiles(from.Len(), s.a.DType) {
		l.all = append(l.all, transfer{store: func(tl.Tensor) {
			s.c.ReduceMulticast(to.Slice(lo, n), from.Slice(lo, n), s.a.Op)
		}})
	}
	return l
}

// store stores the result of the rank's slice of piece k to all ranks of the node.
func (s *sharp) store(k int) *stream {
	if !s.hasPiece(k) {
		return &stream{}
	}
	slice, result := s.slice(k)
	to := slice.Among(s.inside)
	l := &stream{depth: copyDepth}
	for lo, n := range tiles(slice.Len(), s.a.DType) {
		l.all = append(l.all, transfer{
			load: func() tl.Tensor { return s.c.Load(s.c.Local(result.Slice(lo, n))) },
			store: func(t tl.Tensor) {
				s.c.StoreMulticast(to.Slice(lo, n), s.c.Finish(s.a.Op, t, s.c.WorldSize()))
			},
		})
	}
	return l
}

// byNodesAndRails returns the groups of ranks of each node, and of each place in the nodes.
func byNodesAndRails(world int, widths []int) [][]int {
	groups := byNodes(world, widths)
	if len(groups) > 1 {
		for place := range groups[0] {
			groups = append(groups, nodeOf(place, world, len(groups[0])).rail)
		}
	}
	return groups
}

// SHARPAllReduce is the all-reduce of nodes whose switches reduce, as do those between the nodes.
var SHARPAllReduce = Register(Algorithm{
	Name:       "sharp_allreduce",
	Summary:    "each rank loads a slice that the switch of its node combines, the switches between nodes combine these slices and copy the result, and the switch of the node copies it to all, piece by piece",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     sharpAllReduce,
	OneNode:    NVLSAllReduce,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		const rows = 2
		if world < 1 || nElem < 0 || !t.Valid() || nElem > mem.MaxOffset/16 {
			return scratchLayout(world, nElem, t, rows, meshRow(world)) // which returns the error
		}
		// A smaller call may have longer pieces, of which there is one fewer.
		pieces := sharpPieces(int64(nElem) * int64(t.Size()))
		return scratchLayout(world, nElem+2*sharpSlot(nElem, max(1, pieces-1), 2), t, rows, meshRow(world))
	},
	Multimem: true,
	Groups:   byNodesAndRails,
	Types:    []dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64, dtype.I32, dtype.I64},
	Ops:      []tl.ReduceOp{tl.Sum, tl.Max, tl.Min, tl.Avg},
	Steps:    "P + 3 of P pieces",
	Cost:     "(P+3) alpha_rail + max((L+1)/L beta_node, 1/L beta_rail) M + pieces in flight, for nodes of L ranks",
	Source: "Graham et al., Scalable Hierarchical Aggregation Protocol (SHARP), 2016; algorithm CollNetDirect of " +
		"github.com/NVIDIA/nccl",
})
