package algorithm

import (
	"fmt"
	"iter"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// This file is what the kernels over a symmetric window have in common. Each such window is
// one buffer, scratch: data, and after them rows of signals. Each word has one writer: word p
// of a mesh's row is for rank p to notify, and the first two of a ring's are for the left and
// the right neighbour.
//
// Words only grow. A row that is used for the k-th time is waited for to come to k, so that
// it can be used any number of times: a wait for 1 would let the second use run straight
// through. Kernels whose rounds have a row each use it once.

// ringRow is the number of signals in a row of a ring: 64 bytes.
const ringRow = 16

// meshRow is the number of signals in a row of a mesh: one for each rank, and as many as in a
// ring's at least.
func meshRow(world int) int { return max(ringRow, world) }

// scratchLayout declares a window of n elements and rows of so many signals.
func scratchLayout(world, n int, t dtype.Type, rows, perRow int) (*mem.Layout, error) {
	if world < 1 || n < 0 || !t.Valid() {
		return nil, fmt.Errorf("a window for %d ranks with %d elements of %v: at least one rank, no negative number, and a type", world, n, t)
	}
	parts := []mem.Part{mem.DataPart("data", t, max(1, n))}
	if over := parts[0].Bytes() % 4; over != 0 {
		parts = append(parts, mem.DataPart("pad", dtype.U8, int(4-over))) // signals are int32
	}
	parts = append(parts, mem.SignalPart("signals", mem.Int32, max(1, rows)*perRow))
	return mem.NewLayout(0, []mem.Buffer{{Name: "scratch", Parts: parts}})
}

// scratch is the first n elements of the data of a kernel's window, and its signals.
func scratch(c *tl.Context, a tl.Args, n int) (tl.Sym, tl.Signal) {
	w := a.Window(0)
	return c.Data(w, "scratch.data").Slice(0, n), c.Signals(w, "scratch.signals")
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

// tell notifies a peer by a word. What the peer is to see must have taken effect: own stores
// by a pipe barrier, puts by a fence.
func tell(c *tl.Context, word tl.Signal, peer int) { c.Notify(word, peer, tl.SignalAdd, 1) }

// once is the number of uses of a row that serves one round.
const once = 1

// heed waits for what is told by a word that is used for the use-th time, from 1 on.
func heed(c *tl.Context, word tl.Signal, use int) { c.WaitUntil(word, tl.GE, int64(use)) }

// meshBarrier holds every rank until all have come, for the use-th time in this row. It takes
// N-1 notifications per rank.
func meshBarrier(c *tl.Context, row tl.Signal, use int) {
	for peer := range c.WorldSize() {
		if peer != c.Rank() {
			tell(c, row.At(c.Rank()), peer)
		}
	}
	for peer := range c.WorldSize() {
		if peer != c.Rank() {
			heed(c, row.At(peer), use)
		}
	}
}

// tileBytes is how much passes through a PE's scratch memory at a time. A vector may be
// longer than that memory.
const tileBytes = 64 << 10

// tiles lists where the tiles of n elements begin, and their elements.
func tiles(n int, t dtype.Type) iter.Seq2[int, int] {
	per := tileBytes / t.Size()
	return func(yield func(lo, n int) bool) {
		for lo := 0; lo < n; lo += per {
			if !yield(lo, min(per, n-lo)) {
				return
			}
		}
	}
}

// move copies memory to memory, tile by tile.
func move(c *tl.Context, dst, src tl.Ref) {
	for lo, n := range tiles(src.Len(), src.DType) {
		c.Copy(dst.Slice(lo, n), src.Slice(lo, n))
	}
}

// reduce stores what all members' copies of src combine to: the own one first, then those of
// the others in ascending order. In floating point that order is part of the result.
func reduce(c *tl.Context, op tl.ReduceOp, dst tl.Ref, src tl.Sym) {
	for lo, n := range tiles(src.Len(), src.DType()) {
		part := src.Slice(lo, n)
		acc := c.Load(c.Local(part))
		for peer := range c.WorldSize() {
			if peer != c.Rank() {
				acc = c.Combine(op, acc, c.Load(c.At(part, peer)))
			}
		}
		c.Store(dst.Slice(lo, n), c.Finish(op, acc, c.WorldSize()))
	}
}
