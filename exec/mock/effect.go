package mock

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// oneSidedState is a rank's state for one-sided operations.
type oneSidedState struct {
	orders  map[int32]*effectOrder // by PE: order in which effects in flight arrive there
	fences  uint32                 // number of fences so far
	pending int                    // effects in flight
	scratch effect                 // reused by effects that complete within their call
	polls   polls
}

// effect is one put, get, notification or atomic that is being applied to memory. Random schedules
// apply it step by step, unless the memory order is sequential. Otherwise it is applied at once.
type effect struct {
	schedState
	by     *rank
	op     tl.Op
	next   step
	side   tl.OneSided
	n      int
	typ    dtype.Type
	binary dtype.BinaryOp
	cuts   []cut    // parts of a packet that have not arrived; nil if all lines arrive together
	value  tl.Value // data in flight; the effect holds a reference to them in the log
	off    int32
	origin oplog.Origin

	index     int          // in run.effects
	order     *effectOrder // nil: unordered
	mayArrive bool         // order no longer holds it back
}

// step is an indivisible part of an effect.
type step uint8

const (
	stepRead   step = iota // the source is read
	stepWrite              // the data are written
	stepUpdate             // the word is updated
	stepDone               // nothing is left
)

// oneSided performs the part of a put, get, notification or atomic that its call waits for.
func (r *rank) oneSided(in *tl.Instr) {
	x := r.run
	if in.Op == tl.OpFetchAdd || in.Op == tl.OpCompareSwap {
		r.requireAtomics(in)
	}
	// A compare-and-swap, or an add of 0, may belong to a loop that waits for a word.
	polling := in.Op == tl.OpCompareSwap || in.Op == tl.OpFetchAdd && in.Side.Value == 0
	if !polling {
		r.polls = polls{}
	}
	access := r.book.Sided(in)
	e := &r.scratch
	if x.random != nil && x.opts.Order != mem.Sequential {
		e = new(effect)
	}
	r.prepare(e, in)
	waits := in.Op == tl.OpFetchAdd || in.Op == tl.OpCompareSwap || in.Op == tl.OpGet && !in.Side.NBI
	if e == &r.scratch {
		for e.next != stepDone {
			e.proceed()
		}
	} else {
		x.launchEffect(e)
		for waits && !e.over {
			r.park(forEffects)
		}
	}
	in.Side.Got = e.side.Got
	switch {
	case polling && in.Op == tl.OpCompareSwap && e.side.Hit:
		r.polls = polls{}
	case polling:
		r.polled(in)
	case access == 0 || in.Side.NBI: // no history is kept, or the access ends at a Quiet
	case in.Op == tl.OpPut:
		r.book.Done(access, history.Source)
	case in.Op == tl.OpGet:
		r.book.Done(access, history.Whole)
	}
}

// prepare makes the effect of an instruction. If the call returns only when its source has been
// read, prepare reads the source.
func (r *rank) prepare(e *effect, in *tl.Instr) {
	*e = effect{by: r, op: in.Op, side: *in.Side, n: in.N, typ: in.Type, binary: in.Binary, next: stepUpdate}
	e.side.Words = nil // the Context will use their memory again; an effect has one word, side.Word
	log := r.run.log
	if log != nil {
		e.origin = r.origin()
		e.origin.Call = in.Call()
	}
	switch {
	case in.Op == tl.OpGet, in.Op == tl.OpPut && in.N > 0 && in.A == tl.None:
		e.next = stepRead
		if in.Op == tl.OpPut && !in.Side.NBI {
			e.proceed()
		}
	case in.Op == tl.OpPut && in.N > 0:
		e.next = stepWrite
		if log != nil {
			cell := tl.DriverOf(r.kernel).Cell(in.A)
			e.value, e.off = cell.Value, cell.Off+in.AOff
			log.Retain(e.value)
		}
	}
}

// proceed performs the next step.
func (e *effect) proceed() {
	x := e.by.run
	switch e.next {
	case stepRead:
		if x.log != nil {
			from := e.side.Local
			if e.op == tl.OpGet {
				from = e.side.Remote
			}
			e.value, e.off = x.log.NewValue(), 0
			x.log.Load(e.origin, e.value, 0, e.n, e.n, e.typ, from)
		}
		e.next = stepWrite
	case stepWrite:
		if len(e.cuts) > 0 {
			e.partArrives()
			return
		}
		if x.log != nil {
			e.arrive(x.log)
		}
		if e.next = stepDone; e.op == tl.OpPut && e.side.Signal {
			e.next = stepUpdate
		}
	case stepUpdate:
		e.update()
		e.next = stepDone
	}
}

// arrive writes the data.
func (e *effect) arrive(log *oplog.Log) {
	switch {
	case e.op == tl.OpGet:
		log.Store(e.origin, e.side.Local, e.value, e.off, e.n, e.typ)
	case e.side.Atomic:
		log.Combine(e.origin, e.side.Remote, e.value, e.off, e.n, e.typ, e.binary)
	default:
		log.Store(e.origin, e.side.Remote, e.value, e.off, e.n, e.typ)
	}
	log.Release(e.value)
	e.value = 0
}

// update changes the word, and notes what it held.
func (e *effect) update() {
	x, s := e.by.run, &e.side
	held := s.Win.Words(int(s.Peer))[s.Word]
	s.Got, s.Hit = held, true
	v := s.Value
	switch {
	case e.op == tl.OpCompareSwap:
		s.Hit = held == s.Expect
	case e.op == tl.OpFetchAdd || s.Op == tl.SignalAdd:
		v = held + s.Value
	}
	if s.Lines != tl.NoLine {
		s.Win.PacketArrived(s.Peer, s.Word, s.Lines.Count(e.bytes()))
	}
	if s.Hit {
		x.set(s.Win, s.Peer, s.Word, s.WordType.Wrap(v))
	}
	if x.history != nil && (e.op == tl.OpFetchAdd || e.op == tl.OpCompareSwap) {
		// Record takes the source line from the kernel, which is still in this call.
		e.by.Record(history.RMW).SetAtomic(e.op, s, held)
	}
}

// bytes returns the size of the data.
func (e *effect) bytes() int64 { return int64(e.n) * int64(e.typ.Size()) }

// launchEffect starts an effect that takes place later.
func (x *run) launchEffect(e *effect) {
	e.by.pending++
	e.index = len(x.effects)
	x.effects = append(x.effects, e)
	e.lowPriority = x.oneIn(holdsBackSteps)
	if e.side.Lines != tl.NoLine {
		e.cut()
	}
	if e.op == tl.OpGet {
		e.mayArrive = true
	} else {
		e.by.orderTo(e.side.Win.Team.PEs[e.side.Peer]).join(x, e)
	}
	if e.next == stepRead || e.mayArrive {
		x.wake(e)
	}
}

// advance performs the next step of an effect that is in flight.
func (e *effect) advance() {
	x := e.by.run
	if e.proceed(); e.next != stepDone {
		if e.lowPriority = x.oneIn(holdsBackSteps); !e.mayArrive {
			x.sleep(e) // the effectOrder wakes it
		}
		return
	}
	x.sleep(e)
	e.over = true
	last := len(x.effects) - 1
	x.effects[e.index] = x.effects[last]
	x.effects[e.index].index = e.index
	x.effects = x.effects[:last]
	if e.order != nil {
		e.order.leave(x, e)
	}
	r := e.by
	if r.pending--; r.wait == forEffects {
		x.wake(r)
	}
	if r.done && r.pending == 0 {
		r.settle()
	}
}

// fenceOrQuiet performs a fence, a quiet or a pipe barrier.
func (r *rank) fenceOrQuiet(in *tl.Instr) {
	record := history.Drain
	switch in.Op {
	case tl.OpFence:
		record = history.Fence
		r.fences++
	case tl.OpQuiet:
		record = history.Quiet
		for r.pending > 0 {
			r.park(forEffects)
		}
	}
	r.book.Plain(record)
}
