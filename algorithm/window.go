package algorithm

import (
	"fmt"
	"iter"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// This file is shared by the kernels over a symmetric window. Each such window is one buffer,
// scratch: data, and after them rows of signals. Each word has one writer. In the row of a mesh,
// rank p notifies word p. In the row of a ring, the left and the right neighbour notify the first
// two words.
//
// Words only grow. In the k-th use of a row, a rank waits until its words reach k. So a row can be
// used any number of times. A wait for 1 would not block in the second use. A call of a kernel uses
// each row of its window once, or in the rings of levels once in each round. Args.Use is the number
// of the use.
//
// Calls that follow one another on the same ranks work on two windows in turn, and each call
// is followed by Quiet and PipeBarrier. That is enough for every kernel here:
//
//   - No rank leaves a call before all that read its copy of the window, and all whose copies it
//     writes before they notify it in the same call, have notified it, directly or through
//     others, that they have begun that call. In a mesh every rank notifies every other rank. In a
//     ring by reads the left rank passes on, round after round, what it was notified of; after N-1
//     rounds a rank knows that its right neighbour, its reader, has come. In a ring by puts both
//     neighbours notify it in each round.
//   - A rank that has begun a call has ended the one before: its reads are over, and its puts are
//     complete, before it notifies any rank of the new one.
//
// So a rank that begins call k+2, and writes the window of call k again, has ended call k+1. There
// it was notified that the others have ended call k. On one window a rank could stage for its next
// call what a slower one still reads for this one.
//
// The earlier contents of a window do not matter: each call writes what it reads. Calls may have
// different numbers of elements, because the signals lie after the data of the largest call.

// ringRow is the number of signals in a row of a ring: 64 bytes.
const ringRow = 16

// meshRow returns the number of signals in a row of a mesh: one for each rank, and as many as in a
// ring's at least.
func meshRow(world int) int { return max(ringRow, world) }

// scratchLayout declares a window of n elements and rows of signals.
func scratchLayout(world, n int, t dtype.Type, rows, perRow int) (*mem.Layout, error) {
	if world < 1 || n < 0 || !t.Valid() {
		return nil, fmt.Errorf("a window for %d ranks with %d elements of %v: at least one rank, no negative number, and a type",
			world, n, t)
	}
	parts := []mem.Part{mem.DataPart("data", t, max(1, n))}
	if over := parts[0].Bytes() % 4; over != 0 {
		parts = append(parts, mem.DataPart("pad", dtype.U8, int(4-over))) // signals are int32
	}
	parts = append(parts, mem.SignalPart("signals", mem.Int32, max(1, rows)*perRow))
	return mem.NewLayout(0, []mem.Buffer{{Name: "scratch", Parts: parts}})
}

// scratch returns the first n elements of the data of a kernel's window, and its signals. A window
// for elements of one type serves all types of that size.
func scratch(c *tl.Context, a tl.Args, n int) (tl.Sym, tl.Signal) {
	w := a.Window(0)
	return c.Data(w, "scratch.data").As(a.DType).Slice(0, n), c.Signals(w, "scratch.signals")
}

// packed returns where the blocks that a rank brings lie in a window, one for each of n ranks. They
// lie one after the other, even if there are gaps in the rank's memory.
func packed(a tl.Args, n, j int) mem.Chunk {
	if a.InBlocks == nil {
		return mem.ChunkOf(a.NElem, n, j)
	}
	lo := 0
	for _, b := range a.InBlocks[:j] {
		lo += b.N
	}
	return mem.Chunk{Lo: lo, N: a.InBlocks[j].N}
}

// inputElems returns the number of elements in all n blocks of a rank's contribution.
func inputElems(a tl.Args, n int) int {
	last := packed(a, n, n-1)
	return last.Lo + last.N
}

// stageBlocks copies the n blocks that this rank brings to its copy of a window.
func stageBlocks(c *tl.Context, a tl.Args, n int, data tl.Sym) {
	if a.InBlocks == nil {
		move(c, c.Local(data), a.Shard(c.Rank()))
		return
	}
	for j := range n {
		b := packed(a, n, j)
		move(c, c.Local(data.Slice(b.Lo, b.N)), a.InBlock(c.Rank(), n, j))
	}
}

// takeBlocks copies the n equal blocks of this rank's copy of a window to where its result
// has them.
func takeBlocks(c *tl.Context, a tl.Args, n int, data tl.Sym) {
	if a.OutBlocks == nil {
		move(c, a.Out(c.Rank(), data.Len()), c.Local(data))
		return
	}
	for j := range n {
		move(c, a.OutBlock(c.Rank(), data.Len(), n, j), c.Local(data.Chunk(n, j)))
	}
}

// row is row i of the signals of a mesh.
func row(c *tl.Context, signals tl.Signal, i int) tl.Signal {
	return signals.At(i * meshRow(c.WorldSize()))
}

// The words of a ring's row.
const (
	fromLeft = iota
	fromRight
)

// notify notifies a peer by a word. The data for the peer must have taken effect: own stores by a
// pipe barrier, puts by a fence.
func notify(c *tl.Context, word tl.Signal, peer int) { c.Notify(word, peer, tl.SignalAdd, 1) }

// awaitWord waits for the use-th notification of a word, counted from 1.
func awaitWord(c *tl.Context, word tl.Signal, use int) { c.WaitUntil(word, tl.GE, int64(use)) }

// meshBarrier holds every rank until all have come, for the use-th time in this row. It takes
// N-1 notifications per rank.
func meshBarrier(c *tl.Context, row tl.Signal, use int) {
	for peer := range c.WorldSize() {
		if peer != c.Rank() {
			notify(c, row.At(c.Rank()), peer)
		}
	}
	for peer := range c.WorldSize() {
		if peer != c.Rank() {
			awaitWord(c, row.At(peer), use)
		}
	}
}

// tileBytes is the number of bytes in a PE's scratch memory at a time. A vector may be longer than
// that memory.
const tileBytes = 64 << 10

// tiles lists where the tiles of n elements begin, and their elements.
func tiles(n int, t dtype.Type) iter.Seq2[int, int] { return cut(n, tileBytes, t) }

// cut divides n elements into pieces of a number of bytes. It lists the first element of each
// piece, and the number of its elements.
func cut(n, bytes int, t dtype.Type) iter.Seq2[int, int] {
	per := bytes / t.Size()
	return func(yield func(lo, n int) bool) {
		for lo := 0; lo < n; lo += per {
			if !yield(lo, min(per, n-lo)) {
				return
			}
		}
	}
}

// move copies memory to memory, tile by tile. Some loads are in flight while a tile is stored, so
// that the latency of a distant memory counts once.
func move(c *tl.Context, dst, src tl.Ref) {
	per := tileBytes / src.DType.Size()
	tile := func(r tl.Ref, i int) tl.Ref { return r.Slice(i*per, min(per, r.Len()-i*per)) }
	n := tl.CDiv(src.Len(), per)
	ahead := max(1, min(n, copyDepth, int(c.ScratchBytes()/(8*tileBytes))))
	came := make([]tl.Tensor, 0, ahead)
	for i := range n {
		for next := i + len(came); next < min(n, i+ahead); next++ {
			came = append(came, c.Load(tile(src, next)))
		}
		c.Store(tile(dst, i), came[0])
		c.Free(came[0])
		came = append(came[:0], came[1:]...)
	}
}

// takeEach moves a part of the window of each member to where the result has it. Long parts come
// from all members side by side, from the next member on: no memory is asked by all at once.
func takeEach(c *tl.Context, a tl.Args, part func(member int) (to, from tl.Ref)) {
	n := c.WorldSize()
	longest := int64(0)
	for member := range n {
		to, _ := part(member)
		longest = max(longest, to.Bytes())
	}
	if longest <= tileBytes {
		for member := range n {
			to, from := part(member)
			move(c, to, from)
		}
		return
	}
	takeAcross(c, a, tileToSelf, tasks{n, func(i int) task {
		to, from := part((c.Rank() + 1 + i) % n)
		return task{singlePlace(from), singlePlace(to)}
	}})
}

// reduce stores what all members' copies of src combine to: the rank's copy first, then those of
// the others in ascending order. In floating point that order is part of the result.
func reduce(c *tl.Context, op tl.ReduceOp, dst tl.Ref, src tl.Sym) {
	me, n := c.Rank(), c.WorldSize()
	if c.Local(src).Bytes() > tileBytes {
		from := []tl.Ref{c.Local(src)}
		for peer := range n {
			if peer != me {
				from = append(from, c.At(src, peer))
			}
		}
		reduceLong(c, op, dst, from)
		return
	}
	for lo, n := range tiles(src.Len(), src.DType()) {
		part := src.Slice(lo, n)
		acc := c.Load(c.Local(part))
		for peer := range c.WorldSize() {
			if peer != c.Rank() {
				acc = join(c, op, acc, c.Load(c.At(part, peer)))
			}
		}
		c.Store(dst.Slice(lo, n), c.Finish(op, acc, c.WorldSize()))
	}
}

// reduceLong is reduce of long parts, in the same order. Loads are in flight while those before
// them are combined, and each rank begins with the member after it.
func reduceLong(c *tl.Context, op tl.ReduceOp, dst tl.Ref, from []tl.Ref) {
	members := len(from)
	ahead := max(1, loadsAhead/members)
	per := max(1, min(tileBytes, int(c.ScratchBytes())/(2*members*(ahead+1)))/dst.DType.Size())
	turns := tl.CDiv(dst.Len(), per)
	tile := func(r tl.Ref, turn int) tl.Ref { return r.Slice(turn*per, min(per, r.Len()-turn*per)) }
	came := make([][]tl.Tensor, ahead+1)
	for i := range came {
		came[i] = make([]tl.Tensor, members)
	}
	load := func(turn int) {
		for k := range members {
			k = (k + c.Rank() + 1) % members
			came[turn%len(came)][k] = c.Load(tile(from[k], turn))
		}
	}
	for turn := range min(ahead, turns) {
		load(turn)
	}
	for turn := range turns {
		if turn+ahead < turns {
			load(turn + ahead)
		}
		ts := came[turn%len(came)]
		acc := ts[0]
		for _, t := range ts[1:] {
			acc = join(c, op, acc, t)
		}
		acc = c.Finish(op, acc, c.WorldSize())
		c.Store(tile(dst, turn), acc)
		c.Free(acc)
	}
}

// join returns the result of an operation on two tensors, which it frees.
func join(c *tl.Context, op tl.ReduceOp, a, b tl.Tensor) tl.Tensor {
	both := c.Combine(op, a, b)
	c.Free(b)
	c.Free(a)
	return both
}
