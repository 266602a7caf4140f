package algorithm

import (
	"math/bits"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// nvlsTreeAllReduce is for nodes of L ranks. The ranks of a node are joined by a switch that
// reduces and copies. A vector is cut into pieces, and a piece into a slice for each place in a
// node. Each rank loads its slice of the copies of all ranks of its node, combined by the switch.
// The ranks at one place of all nodes add up their slices on trees, by puts. Each stores the result
// to all ranks of its node at once. Each half of a slice takes its own tree over the nodes. The
// leaves of one tree are inner nodes of the other.
//
// Piece k is staged in the window in step k-1. T is the height of the trees. D is the depth of the
// rank's node in a tree. The piece is combined and passed up in step k + lag (T-D), and the result
// is passed down in step k + lag (T+D). The root does both at once. A step later it is taken out of
// the window. A rank waits only for the work of an earlier step, so no rank waits forever. A step
// begins with a barrier of the node if its ranks need what others have done since the last barrier.
//
// Parts that come from other nodes lie in slots, which serve one piece after the other. A rank
// reuses a slot of its parent when it has the result of the previous piece, because the parent has
// then read the slot. The parent reuses a slot of the rank when the rank has sent a later piece up,
// because the rank has then read the slot.
func nvlsTreeAllReduce(c *tl.Context, a tl.Args) {
	width := innermost(levelWidths(c, a))
	newNodeTree(c, a, width, treePieces(int64(a.NElem)*int64(a.DType.Size()), treeHeight(c.WorldSize()/width))).run()
}

func (t *nodeTree) run() {
	perform(t.c, t.stage(0))
	for step := range t.pieces + t.takeLag {
		t.barrierFor(step)
		streams := []*stream{t.stage(step + 1), t.take(step - t.takeLag)}
		for i := range t.trees {
			streams = append(streams, t.up(i, step-treeLag*(t.height-t.trees[i].depth)))
		}
		for i := range t.trees {
			streams = append(streams, t.down(i, step-treeLag*(t.height+t.trees[i].depth)))
		}
		perform(t.c, streams...)
	}
}

// treeLag is the number of steps between two nodes of a tree. With two, a part is on its way to the
// next node while a rank works on the following piece.
const treeLag = 2

// nodeTree is a call of nvlsTreeAllReduce.
type nodeTree struct {
	c *tl.Context
	a tl.Args
	node
	group       *mem.Group // the node
	data        tl.Sym     // of pieces that are staged
	slots       tl.Sym
	slot        int // elements of a slot
	tileElems   int // elements of a tile
	tiles       int // of a slot
	pieces      int
	height      int
	takeLag     int // steps after the first step of a piece until it is taken out of the window
	trees       [2]treePlace
	rounds      rounds
	lastBarrier int // the last step with a barrier of the node; -1: none
	signals     tl.Signal
	arrived     []int // by piece: the value of a slot's word once the whole piece has arrived
}

// treePlace is the place of a node in a tree. A parent or child of -1 is none.
type treePlace struct {
	parent   int
	children [2]int
	which    int // the index of this node among the children of its parent
	depth    int
}

// treePlaceOf returns the place of node `at` in a tree of a number of nodes.
func treePlaceOf(at, nodes, tree int) (p treePlace) {
	p.parent, p.children = topology.TwoTreeStep(at, nodes, tree)
	for up := p.parent; up >= 0; p.depth++ {
		up, _ = topology.TwoTreeStep(up, nodes, tree)
	}
	if p.parent >= 0 {
		if _, siblings := topology.TwoTreeStep(p.parent, nodes, tree); siblings[1] == at {
			p.which = 1
		}
	}
	return p
}

// treeHeight returns the greatest depth in both trees of a number of nodes.
func treeHeight(nodes int) (height int) {
	for at := range nodes {
		for tree := range 2 {
			height = max(height, treePlaceOf(at, nodes, tree).depth)
		}
	}
	return height
}

// Slots of a piece, for each tree: two for the parts from the children, and one for the result from
// the parent.
const (
	slotsOfTree  = 3
	slotDown     = 2
	slotsOfPiece = 2 * slotsOfTree
)

// treePieces returns the number of pieces of a vector. Higher trees have more steps, and so more
// pieces. With one node more pieces would cost barriers: between nodes, they fill the pipeline.
func treePieces(bytes int64, height int) int { return nvlsPieces(2 * bytes * int64(height)) }

// slotElems returns the number of elements of the longest half of a slice.
func slotElems(nElem, pieces, width int) int {
	return tl.CDiv(tl.CDiv(tl.CDiv(nElem, pieces), width), 2)
}

// slotsInTurn returns the number of pieces that have slots of their own. Later pieces reuse these
// slots in turn.
func slotsInTurn(pieces, height int) int { return min(pieces, 2*treeLag*height+1) }

func newNodeTree(c *tl.Context, a tl.Args, width, pieces int) *nodeTree {
	n := nodeOf(c.Rank(), c.WorldSize(), width)
	t := &nodeTree{c: c, a: a, node: n, group: c.Group(a.Window(0), n.ranks...), lastBarrier: -1}
	t.height = treeHeight(n.nodes)
	t.pieces = pieces
	deepest := 0
	for i := range t.trees {
		t.trees[i] = treePlaceOf(n.at, n.nodes, i)
		deepest = max(deepest, t.trees[i].depth)
	}
	t.takeLag = treeLag*(t.height+deepest) + 1
	t.slot = slotElems(a.NElem, t.pieces, width)
	turns := slotsInTurn(t.pieces, t.height)
	data, signals := scratch(c, a, a.NElem+turns*slotsOfPiece*t.slot)
	t.data, t.slots, t.signals = data.Slice(0, a.NElem), data.Slice(a.NElem, turns*slotsOfPiece*t.slot), signals
	t.rounds = rounds{c: c, a: a, row: row(c, signals, 0), peers: without(n.ranks, c.Rank())}
	t.tileElems = max(1, int(min(tileBytes, c.ScratchBytes()/256))/a.DType.Size())
	t.tiles = max(1, tl.CDiv(t.slot, t.tileElems))
	for k := range t.pieces {
		use := 0
		for range t.tiles {
			use = a.Use(1 + k%turns)
		}
		if a.Uses == nil {
			use = t.tiles * (k/turns + 1)
		}
		t.arrived = append(t.arrived, use)
	}
	return t
}

// turns is slotsInTurn of the call.
func (t *nodeTree) turns() int { return slotsInTurn(t.pieces, t.height) }

// barrierFor synchronizes the node in a step if the rank needs the work of others since the last
// barrier. Others have staged a piece that is combined in this step, or stored one that is taken.
func (t *nodeTree) barrierFor(step int) {
	need := -1 // the latest step before which others did work that the rank needs; -1: none
	if t.hasPiece(step - t.takeLag) {
		need = step // others stored this piece in the previous step
	}
	for _, p := range t.trees {
		if k := step - treeLag*(t.height-p.depth); t.hasPiece(k) {
			need = max(need, k) // others staged this piece in step k-1
		}
	}
	if need > t.lastBarrier {
		t.rounds.barrier()
		t.lastBarrier = step
	}
}

// hasPiece reports whether the call has a piece k.
func (t *nodeTree) hasPiece(k int) bool { return k >= 0 && k < t.pieces }

// stage copies piece k into the window.
func (t *nodeTree) stage(k int) *stream {
	if !t.hasPiece(k) {
		return &stream{}
	}
	return copying(t.c, t.c.Local(t.data.Chunk(t.pieces, k)), t.a.Shard(t.c.Rank()).Chunk(t.pieces, k))
}

// take copies piece k out of the window.
func (t *nodeTree) take(k int) *stream {
	if !t.hasPiece(k) {
		return &stream{}
	}
	return copying(t.c, t.a.Out(t.c.Rank(), t.a.NElem).Chunk(t.pieces, k), t.c.Local(t.data.Chunk(t.pieces, k)))
}

// tile returns tile i of piece k, and its first element within the slot. The tile is of the rank's
// slice, of the half that takes the tree. The last tiles may be shorter, or empty.
func (t *nodeTree) tile(k, tree, i int) (s tl.Sym, lo int) {
	half := t.data.Chunk(t.pieces, k).Chunk(t.width, t.place).Chunk(2, tree)
	lo = min(i*t.tileElems, half.Len())
	return half.Slice(lo, min(t.tileElems, half.Len()-lo)).Among(t.group), lo
}

// slotOf returns n elements of a slot of piece k, from element lo on, and the word of the slot.
func (t *nodeTree) slotOf(k, tree, which, lo, n int) (tl.Sym, tl.Signal) {
	turn, at := k%t.turns(), tree*slotsOfTree+which
	return t.slots.Slice((turn*slotsOfPiece+at)*t.slot+lo, n), row(t.c, t.signals, 1+turn).At(at)
}

// arrive waits until a slot has its part of piece k.
func (t *nodeTree) arrive(k, tree, which int) {
	_, word := t.slotOf(k, tree, which, 0, 0)
	awaitWord(t.c, word, t.arrived[k])
}

// up combines piece k of the node with what the children have sent, and sends it to the parent. The
// root passes it down.
func (t *nodeTree) up(tree, k int) *stream {
	if !t.hasPiece(k) {
		return &stream{}
	}
	p := &t.trees[tree]
	var received [][]tl.Tensor // parts of the children, by tile in flight
	l := &stream{depth: nodeDepth}
	for i := range t.tiles {
		part, lo := t.tile(k, tree, i)
		l.all = append(l.all, transfer{
			load: func() tl.Tensor {
				var all []tl.Tensor
				for which, child := range p.children {
					if child < 0 {
						continue
					}
					if i == 0 {
						t.arrive(k, tree, which)
					}
					slot, _ := t.slotOf(k, tree, which, lo, part.Len())
					all = append(all, t.c.Load(t.c.Local(slot)))
				}
				received = append(received, all)
				return t.c.LoadReduce(part, t.a.Op)
			},
			store: func(own tl.Tensor) {
				sum := own
				for j, other := range received[0] {
					both := t.c.Combine(t.a.Op, sum, other)
					t.c.Free(other)
					if j > 0 {
						t.c.Free(sum)
					}
					sum = both
				}
				received = received[1:]
				if p.parent < 0 {
					t.spread(tree, k, i, t.c.Finish(t.a.Op, sum, t.c.WorldSize()))
					return
				}
				slot, word := t.slotOf(k, tree, p.which, lo, part.Len())
				t.c.PutTensorSignal(slot, t.rank(p.parent), sum, word, tl.SignalAdd, 1)
			},
		})
	}
	return l
}

// down takes the result of piece k from the parent and passes it on.
func (t *nodeTree) down(tree, k int) *stream {
	if !t.hasPiece(k) || t.trees[tree].parent < 0 {
		return &stream{}
	}
	l := &stream{depth: copyDepth}
	for i := range t.tiles {
		part, lo := t.tile(k, tree, i)
		l.all = append(l.all, transfer{
			load: func() tl.Tensor {
				if i == 0 {
					t.arrive(k, tree, slotDown)
				}
				slot, _ := t.slotOf(k, tree, slotDown, lo, part.Len())
				return t.c.Load(t.c.Local(slot))
			},
			store: func(result tl.Tensor) { t.spread(tree, k, i, result) },
		})
	}
	return l
}

// spread sends a tile of a result to the children, and stores it to all ranks of the node.
func (t *nodeTree) spread(tree, k, i int, result tl.Tensor) {
	part, lo := t.tile(k, tree, i)
	for _, child := range t.trees[tree].children {
		if child >= 0 {
			slot, word := t.slotOf(k, tree, slotDown, lo, part.Len())
			t.c.PutTensorSignal(slot, t.rank(child), result, word, tl.SignalAdd, 1)
		}
	}
	t.c.StoreMulticast(part, result)
}

// byNodes returns the ranks of each node. A node is a part of the innermost level.
func byNodes(world int, widths []int) (groups [][]int) {
	width := innermost(append(widths[:len(widths):len(widths)], world))
	for at := range world / width {
		groups = append(groups, nodeOf(at*width, world, width).ranks)
	}
	return groups
}

// NVLSTreeAllReduce is the all-reduce of nodes whose switches reduce, on trees over the nodes.
var NVLSTreeAllReduce = Register(Algorithm{
	Name:       "nvls_tree_allreduce",
	Summary:    "each rank loads a slice that the switch of its node combines, two trees over the nodes add up these slices, and the switches copy the results to all ranks, piece by piece",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     nvlsTreeAllReduce,
	OneNode:    NVLSAllReduce,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		// A smaller call may have one piece fewer, so that its pieces are longer.
		height := bits.Len(uint(max(0, world/2))) + 1
		rows := 2 + 2*treeLag*height
		if world < 1 || nElem < 0 || !t.Valid() || nElem > mem.MaxOffset/16 {
			return scratchLayout(world, nElem, t, rows, meshRow(world)) // which returns the error
		}
		slots := 0
		for h := 1; h <= height; h++ {
			pieces := treePieces(int64(nElem)*int64(t.Size()), h)
			slots = max(slots, slotsInTurn(pieces, h)*slotsOfPiece*slotElems(nElem, max(1, pieces-1), 2))
		}
		return scratchLayout(world, nElem+slots, t, rows, meshRow(world))
	},
	Multimem: true,
	Groups:   byNodes,
	Types:    []dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64, dtype.I32, dtype.I64},
	Ops:      []tl.ReduceOp{tl.Sum, tl.Max, tl.Min, tl.Avg},
	Steps:    "P + 4 T + 2 of P pieces, with T = log2(nodes)",
	Cost:     "max((L+1)/L beta_node, 2/L beta_rail) M + 2 T alpha_rail + pieces in flight, for nodes of L ranks",
	Source:   "algorithm NVLSTree of github.com/NVIDIA/nccl; multimem.ld_reduce and multimem.st of PTX",
})
