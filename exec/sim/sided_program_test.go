package sim_test

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// One-sided steps of random programs. The window has a box for each writer, memory of the rank's
// own, and words. There are words of 64 bits, one per rank, and of 32.
const (
	doPut stepKind = numStepKinds + iota
	doPutNBI
	doPutTensor
	doPutSignal
	doPutTensorSignal
	doCombine
	doGet
	doGetNBI
	doAdd1 // to a word
	doSet
	doSetNear // of this PE
	doWaitWord
	doWaitAll
	doTest // a few times
	doSpin // until it holds, or until enough is enough
	doRead
	doFetchAdd
	doSwap
	doFence
	doQuiet
	doDrain
	doSync
	doBarrier
	doBoxLoad
	doBoxStore
	doTileLoad
	doTileStore
	numSidedKinds
)

func (p *program) window(pes []int32) (*mem.Window, error) {
	return newWindow(pes, []mem.Buffer{
		{Name: "box", Parts: []mem.Part{mem.DataPart("", dtype.I32, p.elems*p.world)}},
		{Name: "own", Parts: []mem.Part{mem.DataPart("", dtype.I32, p.elems)}},
		{Name: "sig", Parts: []mem.Part{mem.SignalPart("", mem.Int64, p.world)}},
		{Name: "small", Parts: []mem.Part{mem.SignalPart("", mem.Int32, 2)}},
	})
}

// sidedStep carries out a one-sided step. It is no method, so that faults name its lines.
func sidedStep(p *program, c *tl.Context, a tl.Args, s step, cur tl.Tensor) tl.Tensor {
	w, me := a.Window(0), c.Rank()
	box := c.Data(w, "box").Chunk(p.world, me)
	sig, small := c.Signals(w, "sig"), c.Signals(w, "small")
	n := min(s.n, cur.Len())
	x := cur.Slice(0, n)
	src := a.Shard(me).Slice(0, n)
	mine := c.Local(c.Data(w, "own"))
	switch s.kind {
	case doPut:
		c.Put(box.Slice(0, n), s.peer, src)
	case doPutNBI:
		c.PutNBI(box.Slice(0, n), s.peer, src)
	case doPutTensor:
		c.PutTensor(box.Slice(0, n), s.peer, x)
	case doPutSignal:
		c.PutSignal(box.Slice(0, n), s.peer, src, sig.At(me), tl.SignalAdd, 1)
	case doPutTensorSignal:
		c.PutTensorSignal(box.Slice(0, n), s.peer, x, small.At(0), tl.SignalAdd, 1)
	case doCombine:
		c.PutCombine(box.Slice(0, n), s.peer, src, tl.Sum)
	case doGet:
		c.Get(mine.Slice(0, n), box.Slice(0, n), s.peer)
	case doGetNBI:
		c.GetNBI(mine.Slice(0, n), box.Slice(0, n), s.peer)
	case doAdd1:
		c.Notify(sig.At(me), s.peer, tl.SignalAdd, 1)
	case doSet:
		c.Notify(small.At(s.n%2), s.peer, tl.SignalSet, int64(s.n%3))
	case doSetNear:
		c.Notify(sig.At(s.peer), me, tl.SignalSet, int64(s.n%2))
	case doWaitWord:
		c.WaitUntil(sig.At(s.peer), tl.GE, 1)
	case doWaitAll:
		c.WaitUntil(small.Slice(0, 2), tl.LE, int64(s.n%2))
	case doTest:
		for range s.n {
			if c.Test(small.Slice(0, 2), tl.NE, int64(s.n%2)) {
				break
			}
		}
	case doSpin:
		for range 700 {
			if c.Test(sig.At(s.peer), tl.NE, 0) && (s.n != 0 || c.LoadScalar(small.At(0)) != 3) {
				break
			}
		}
	case doRead:
		if c.LoadScalar(sig.At(s.peer))%2 == 1 {
			c.Full(tl.Dims(1), a.DType, 1)
		}
	case doFetchAdd:
		if c.FetchAdd(small.At(0), s.peer, int64(s.n%2))%2 == 1 {
			c.Fence()
		}
	case doSwap:
		if c.CompareSwap(sig.At(me), s.peer, 1, 0) == 1 {
			c.Full(tl.Dims(1), a.DType, 1)
		}
	case doFence:
		c.Fence()
	case doQuiet:
		c.Quiet()
	case doDrain:
		c.PipeBarrier()
	case doSync:
		c.Sync(w.Team)
	case doBarrier:
		c.Barrier(w.Team)
	case doBoxLoad:
		return c.Load(c.Local(box))
	case doBoxStore:
		c.Store(c.At(box.Slice(0, n), s.peer), x)
	case doTileLoad, doTileStore:
		d := c.Desc(c.At(c.Data(w, "box"), s.peer), p.world, p.elems, p.world, (p.elems+1)/2)
		t := c.LoadTile(d, 0, s.n%p.elems)
		if s.kind == doTileLoad {
			return t.Slice(0, t.Len())
		}
		c.StoreTile(d, 0, s.n%p.elems, t)
	case doTellPut, doTellQuiet, doTellTensor, doTellSignal, doTellStore, doTellLocal:
		tell(c, s, box, cur)
	case doTake, doTakeRemote:
		from := c.Data(w, "box").Chunk(p.world, s.peer).Slice(0, s.n)
		c.WaitUntil(sig.At(s.peer), tl.GE, int64(s.seq))
		if s.kind == doTakeRemote {
			c.Get(mine.Slice(0, s.n), from, s.peer)
			return c.Load(mine.Slice(0, s.n))
		}
		return c.Load(c.Local(from))
	}
	return cur
}

// tell puts a message into the box that this rank has at a peer, or into its own box, and notifies
// the peer.
func tell(c *tl.Context, s step, box tl.Sym, cur tl.Tensor) {
	sig := c.Signals(box.Window(), "sig").At(c.Rank())
	x := c.Full(tl.Dims(s.n), box.DType(), float64(cur.Len()+s.n)) // not the same in each
	x = c.Add(x, c.Load(c.At(box.Slice(0, s.n), s.peer)))
	dst := box.Slice(0, s.n)
	mine := c.Local(c.Data(box.Window(), "own")).Slice(0, s.n)
	notify := func() { c.Notify(sig, s.peer, tl.SignalAdd, 1) }
	switch s.kind {
	case doTellPut, doTellQuiet, doTellSignal:
		c.Store(mine, x)
		if s.kind == doTellSignal {
			c.PutSignal(dst, s.peer, mine, sig, tl.SignalAdd, 1)
			break
		}
		c.PutNBI(dst, s.peer, mine)
		if s.kind == doTellPut {
			c.Fence()
		} else {
			c.Quiet()
		}
		notify()
		c.Quiet() // the source may be used again
	case doTellTensor:
		c.PutTensorSignal(dst, s.peer, x, sig, tl.SignalAdd, 1)
	case doTellStore:
		c.Store(c.At(dst, s.peer), x)
		c.Fence()
		notify()
	case doTellLocal:
		c.Store(c.Local(dst), x)
		c.PipeBarrier()
		notify()
	}
}
