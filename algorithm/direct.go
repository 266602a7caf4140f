package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// This file is shared by the kernels that move contributions directly to the places of the results,
// by loads and stores of other ranks' memory. Each element of the result has an owner. The owner
// loads the contributions of all ranks, combines them, and stores the result at every rank that
// needs it. Nothing is staged, so every byte passes each memory once.
//
// No other rank uses an owner's elements, so a result may replace its contribution, and no rank
// waits in between. There are two barriers of all ranks: one before the first load, when all
// contributions must be complete, and one after the last store.
//
// Many loads are in flight while earlier ones are combined and stored, which hides the latency of
// remote memories. Every rank begins with the rank after it, so that no memory is read by all at
// once. Contributions are combined in rank order, so the bits of a result do not depend on its
// owner.

// task is work on elements of several ranks: they are combined, and the result is stored to others.
// All places have equally many elements.
type task struct {
	from, to places
}

// places are ranges of memory, by number. They are computed when they are needed: in large
// worlds, lists of them at every rank would take much memory.
type places struct {
	n  int
	at func(i int) tl.Ref
}

// singlePlace returns a single place.
func singlePlace(r tl.Ref) places { return places{1, func(int) tl.Ref { return r }} }

// tasks lists the tasks of a rank, by number. A task is valid until the next call of at.
type tasks struct {
	n  int
	at func(i int) task
}

// taskList returns the tasks of a list.
func taskList(work ...task) tasks {
	return tasks{len(work), func(i int) task { return work[i] }}
}

// directWindow returns a window for barriers only.
func directWindow(world, _ int, t dtype.Type) (*mem.Layout, error) {
	return scratchLayout(world, 0, t, 2, meshRow(world))
}

// direct performs the tasks of a rank, between two barriers of all ranks, in tiles of limited size.
// Long tiles keep many bytes in flight. Tiles that are stored to others should be short, so that
// one rank does not delay the rest.
func direct(c *tl.Context, a tl.Args, most int, work tasks) {
	_, signals := scratch(c, a, 0)
	use := a.Use(0)
	c.PipeBarrier() // earlier stores are complete
	barrierAll(c, row(c, signals, 0), use)
	takeAcross(c, a, most, work)
	c.PipeBarrier() // all stores are complete before any rank is notified
	barrierAll(c, row(c, signals, 1), use)
}

// The tiles of results that stay with their owner, and of those that others get.
const (
	tileToSelf   = 128 << 10
	tileToOthers = 32 << 10
)

// pieceToEach is the number of bytes of a tile that are stored to one rank before the next rank
// gets its bytes. The output buffer of a PE has space for one piece of each rank.
const pieceToEach = 8 << 10

// loadsAhead is the number of loads in flight: the usual size of a PE's DMA queue.
const loadsAhead = 64

// barrierAll is meshBarrier with one wait for all words, which takes as long as a wait for one
// word.
func barrierAll(c *tl.Context, row tl.Signal, use int) {
	for _, r := range fromNext(c.Rank(), c.WorldSize()) {
		notify(c, row.At(c.Rank()), r) // itself too
	}
	awaitWord(c, row.Slice(0, c.WorldSize()), use)
}

// takeAcross processes tiles, one tile of each task in turn.
func takeAcross(c *tl.Context, a tl.Args, most int, work tasks) {
	longest, widest := 0, 1
	for i := range work.n {
		w := work.at(i)
		longest, widest = max(longest, w.from.at(0).Len()), max(widest, w.from.n)
	}
	ahead := max(1, loadsAhead/widest)
	most = min(most, int(c.ScratchBytes())/2/(widest*(ahead+1))) // sums take the other half
	per := max(1, most/a.DType.Size())
	tile := func(r tl.Ref, turn int) tl.Ref {
		lo := min(turn/work.n*per, r.Len())
		return r.Slice(lo, min(per, r.Len()-lo))
	}
	turns := tl.CDiv(longest, per) * work.n
	came := make([][]tl.Tensor, min(turns, ahead+1)) // by turn
	for i := range came {
		came[i] = make([]tl.Tensor, widest)
	}
	load := func(turn int) {
		from := work.at(turn % work.n).from
		for _, k := range fromNext(c.Rank(), from.n) {
			came[turn%len(came)][k] = c.Load(tile(from.at(k), turn))
		}
	}
	for turn := range min(ahead, turns) {
		load(turn)
	}
	for turn := range turns {
		if turn+ahead < turns {
			load(turn + ahead)
		}
		w := work.at(turn % work.n)
		sum := combine(c, a.Op, came[turn%len(came)][:w.from.n])
		for lo, n := range cut(sum.Len(), pieceToEach, a.DType) {
			for i := range w.to.n {
				c.Store(tile(w.to.at(i), turn).Slice(lo, n), sum.Slice(lo, n))
			}
		}
		c.Free(sum)
	}
}

// combine reduces several tensors to one, in their order, and frees them.
func combine(c *tl.Context, op tl.ReduceOp, ts []tl.Tensor) tl.Tensor {
	sum := ts[0]
	for _, t := range ts[1:] {
		next := c.Combine(op, sum, t)
		c.Free(t)
		c.Free(sum)
		sum = next
	}
	return c.Finish(op, sum, len(ts))
}

// fromNext lists n ranks from the one after a rank on, and that one last.
func fromNext(rank, n int) func(yield func(i, rank int) bool) {
	return func(yield func(i, rank int) bool) {
		for i := range n {
			if !yield(i, (rank+1+i)%n) {
				return
			}
		}
	}
}
