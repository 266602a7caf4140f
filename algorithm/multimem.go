package algorithm

import (
	"iter"
	"math"
	"slices"

	"kernbench/tl"
)

// This file is shared by the kernels that let switches combine and copy: nvls_*, sharp_allreduce.
//
// A call works on pieces of its vectors. Each piece is staged in the window, reduced and copied by
// the switch, and taken out of the window. One barrier per piece separates these: before round k
// every rank has staged piece k, and what it stored of piece k-1 is there. Between two barriers a
// rank stages the next piece and takes the one before out, while the switch works on this one.

// transfer is a load and the store of what it brings. The load is nil if there is none.
type transfer struct {
	load  func() tl.Tensor
	store func(t tl.Tensor)
}

// stream is a list of transfers, in their order. It has the number of loads in flight while the
// store of the first waits for its data.
type stream struct {
	all   []transfer
	depth int
	ahead []tl.Tensor
	done  int
}

// Depths of streams. A load that a switch combines takes long, and moves few bytes.
const (
	copyDepth   = 8
	reduceDepth = 12
	nodeDepth   = 6 // where ranks send to other nodes too: more loads would hold these up in queues
)

// perform carries streams out side by side, each at its own even pace.
func perform(c *tl.Context, streams ...*stream) {
	for {
		var next *stream
		for _, l := range streams {
			if l.done < len(l.all) && (next == nil || l.done*len(next.all) < next.done*len(l.all)) {
				next = l
			}
		}
		if next == nil {
			return
		}
		next.step(c)
	}
}

// step stores what the first load has brought, with others in flight.
func (l *stream) step(c *tl.Context) {
	depth := max(1, min(l.depth, int(c.ScratchBytes()/(8*tileBytes))))
	for next := l.done + len(l.ahead); next < min(len(l.all), l.done+depth); next++ {
		var t tl.Tensor
		if load := l.all[next].load; load != nil {
			t = load()
		}
		l.ahead = append(l.ahead, t)
	}
	l.all[l.done].store(l.ahead[0])
	if l.all[l.done].load != nil {
		c.Free(l.ahead[0])
	}
	l.ahead = l.ahead[1:]
	l.done++
}

// copying returns the stream of a copy from memory to memory.
func copying(c *tl.Context, dst, src tl.Ref) *stream {
	l := &stream{depth: copyDepth}
	for lo, n := range tiles(src.Len(), src.DType) {
		l.all = append(l.all, transfer{
			load:  func() tl.Tensor { return c.Load(src.Slice(lo, n)) },
			store: func(t tl.Tensor) { c.Store(dst.Slice(lo, n), t) },
		})
	}
	return l
}

// reducing returns the stream of loads that the switch combines. Of each tile store gets the
// result.
func reducing(c *tl.Context, op tl.ReduceOp, of tl.Sym, store func(part tl.Sym, t tl.Tensor)) *stream {
	return summing(c, reduceDepth, op, of, func(part tl.Sym, t tl.Tensor) { store(part, c.Finish(op, t, c.WorldSize())) })
}

// summing is reducing without what an average takes at its end.
func summing(c *tl.Context, depth int, op tl.ReduceOp, of tl.Sym, store func(part tl.Sym, t tl.Tensor)) *stream {
	l := &stream{depth: depth}
	for lo, n := range tiles(of.Len(), of.DType()) {
		part := of.Slice(lo, n)
		l.all = append(l.all, transfer{
			load:  func() tl.Tensor { return c.LoadReduce(part, op) },
			store: func(t tl.Tensor) { store(part, t) },
		})
	}
	return l
}

// pieceBytes is the size from which a vector is cut into two pieces. It is the bytes that a link
// carries while ranks synchronize, times those that it carries while a piece is staged.
const pieceBytes = 8 << 20

// nvlsPieces returns the number of pieces of a vector: their number and their size grow alike.
func nvlsPieces(bytes int64) int { return max(1, int(math.Sqrt(float64(bytes)/pieceBytes))) }

// rounds are barriers of a call in one row of signals.
type rounds struct {
	c     *tl.Context
	a     tl.Args
	row   tl.Signal
	use   int   // number of the row
	peers []int // other ranks of the barrier; nil: all ranks
	done  int
}

// barrier completes what this rank has begun, and waits until all others have done so.
func (r *rounds) barrier() { barrierRows(r) }

// barrierRows is barrier for several rows at the same time.
func barrierRows(rows ...*rounds) {
	rows[0].c.PipeBarrier()
	uses := make([]int, len(rows))
	for i, r := range rows {
		uses[i] = r.notify()
	}
	for i, r := range rows {
		r.await(uses[i])
	}
}

// notify notifies the others and returns the number of this barrier.
func (r *rounds) notify() (use int) {
	use = r.done + 1
	if r.a.Uses != nil {
		use = r.a.Use(r.use)
	}
	r.done++
	for peer := range r.others() {
		notify(r.c, r.row.At(r.c.Rank()), peer)
	}
	return use
}

// await waits until all others have notified this rank in a barrier.
func (r *rounds) await(use int) {
	for peer := range r.others() {
		awaitWord(r.c, r.row.At(peer), use)
	}
}

// others returns the other ranks of the barrier.
func (r *rounds) others() iter.Seq[int] {
	if r.peers != nil {
		return slices.Values(r.peers)
	}
	return func(yield func(int) bool) {
		for peer := range r.c.WorldSize() {
			if peer != r.c.Rank() && !yield(peer) {
				return
			}
		}
	}
}

// node is the place of a rank where ranks fill nodes of a width, and the groups that it is in.
type node struct {
	width, nodes int
	at, place    int   // number of the node, and of the rank in it
	ranks        []int // of the node
	rail         []int // with this place in each node
}

// nodeOf returns the node of a rank.
func nodeOf(rank, world, width int) node {
	n := node{width: width, nodes: world / width, at: rank / width, place: rank % width}
	for i := range width {
		n.ranks = append(n.ranks, n.at*width+i)
	}
	for h := range n.nodes {
		n.rail = append(n.rail, n.rank(h))
	}
	return n
}

// rank returns the rank with this place in another node.
func (n *node) rank(node int) int { return node*n.width + n.place }

// without lists ranks but for one.
func without(ranks []int, rank int) []int {
	return slices.DeleteFunc(slices.Clone(ranks), func(r int) bool { return r == rank })
}
