package sim

import (
	"kernbench/fault"
	"kernbench/hw/dma"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/oplog"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// checkEvery is the number of instructions after which a kernel that never waits looks whether
// its launch was cancelled.
const checkEvery = 1 << 12

// issuing is the instruction that a rank carries out.
type issuing struct {
	instr    *tl.Instr
	calls    uint32    // so far
	computed unit.Time // when the latest arithmetic is done
}

// Do carries out one instruction: it moves the PE's clock by what the call takes and starts the
// operations that run in parallel.
func (r *rank) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		c := tl.DriverOf(r.ctx).Cell(in.A)
		r.run.release(c.Value)
		c.Value = 0
		return
	}
	if r.calls++; r.calls%checkEvery == 0 && r.run.ctx.Err() != nil {
		r.dismissed = true
		r.run.cancel()
		tl.DriverOf(r.ctx).Abandon()
	}
	if in.Op >= tl.OpMeet && r.timeless(in) {
		return
	}
	r.instr = in
	if r.run.instrumented {
		r.issueInstrumented(in)
	} else {
		r.Spend(r.run.e.spec.Issue)
	}
	switch in.Op {
	case tl.OpLoad:
		r.load(in)
	case tl.OpStore:
		r.store(in)
	case tl.OpMath, tl.OpGemm:
		r.compute(in)
	case tl.OpSend:
		r.send(in)
	case tl.OpRecv:
		r.recv(in)
	case tl.OpComposite:
		r.composite(in)
	case tl.OpAwait:
		r.complete(in.Dst)
		r.awaited(in.Dst)
	case tl.OpPut:
		r.put(in)
	case tl.OpGet:
		r.get(in)
	case tl.OpNotify:
		r.notify(in)
	case tl.OpWaitWord:
		r.waitWord(in)
	case tl.OpTestWord, tl.OpReadWord:
		r.poll(in)
		return
	case tl.OpFetchAdd, tl.OpCompareSwap:
		r.atomic(in)
		return
	case tl.OpLoadReduce:
		r.loadReduce(in)
	case tl.OpMulticast:
		r.multicast(in)
	case tl.OpReduceMulticast:
		r.reduceMulticast(in)
	case tl.OpFence:
		r.fence()
	case tl.OpQuiet:
		r.quiet()
	case tl.OpDrain:
		r.drainEngines()
	case tl.OpTask:
		r.post(in)
	}
	r.spin.polls = 0
}

// issueInstrumented issues an instruction of a run with a consumer of more than its figures.
func (r *rank) issueInstrumented(in *tl.Instr) {
	x := r.run
	r.performs(in)
	if x.e.opts.Trace != nil {
		r.issued = r.Clock
		r.traceScratch()
	}
	if x.e.opts.Yield {
		r.sync()
	}
	if r.task != nil {
		r.task.queue.engine.issue(r)
	} else {
		r.Spend(x.e.spec.Issue)
		r.attribute(cause.Issue, cause.CPU)
	}
	if x.e.opts.Seed != 0 {
		r.Spend(r.pause())
		r.attribute(cause.Delay, cause.CPU)
	}
	if x.ring.OnRecv {
		r.countHazards(in)
	}
	r.book.Operands(in)
	r.book.Accesses(in)
}

func (r *rank) origin() oplog.Origin { return r.originAt(r.Clock) }

func (r *rank) originAt(t unit.Time) oplog.Origin {
	return oplog.Origin{Rank: r.index, PE: r.pe, Turn: r.turn, Time: t, Line: tl.DriverOf(r.ctx).Line()}
}

// complete waits until a cell's contents are known to have come, and moves the clock to
// when they had.
func (r *rank) complete(i int32) {
	from := r.Clock
	for tl.DriverOf(r.ctx).Cell(i).Waiting > 0 {
		r.parkOn(forCell, i)
	}
	r.AdvanceTo(tl.DriverOf(r.ctx).Cell(i).Ready)
	if r.Clock == from {
		return
	}
	if r.causes != nil {
		r.waitedFor(cause.None, 0, r.causes.filledBy(i))
	}
	r.stallSpan(trace.Wait, from)
}

// operand waits for a tensor that an engine of this PE will read. One that lies in a
// slot outside the PE is fetched first.
func (r *rank) operand(i int32) {
	if i == tl.None {
		return
	}
	r.complete(i)
	c := tl.DriverOf(r.ctx).Cell(i)
	if !c.InSlot || c.Filled || r.run.ring.Space == mem.TCM {
		return
	}
	c.Filled = true
	r.fetch(i, int(c.In), int32(c.Slot), r.rx[c.In].tokens[c.Slot].Bytes())
	r.complete(i)
}

// read notes that an engine reads a tensor until end.
func (r *rank) read(i int32, end unit.Time) {
	if i == tl.None {
		return
	}
	if c := tl.DriverOf(r.ctx).Cell(i); c.InSlot && !r.run.ring.OnRecv {
		r.rx[c.In].slots[c.Slot].Read(end)
	}
}

// countHazards counts, under the older credit rule, operands that lie in slots which a
// later message has overwritten by now.
func (r *rank) countHazards(in *tl.Instr) {
	for _, i := range [...]int32{in.A, in.B, in.C} {
		if i == tl.None || !tl.DriverOf(r.ctx).Cell(i).InSlot {
			continue
		}
		r.sync()
		if q := r.rx[tl.DriverOf(r.ctx).Cell(i).In]; q.Overwritten(q.Taken-1, q.sizing) {
			r.run.result.Hazards++
		}
	}
}

// compute has a unit of the PE work on an instruction.
func (r *rank) compute(in *tl.Instr) {
	r.operand(in.A)
	r.operand(in.B)
	r.operand(in.C)
	r.meetPipes()
	spec := r.run.e.spec
	n, takes := spec.Unit(in)
	start, end := r.engines.Units[n].Book(r.Clock, takes)
	if r.causes != nil {
		r.computes(in, n, start, end)
	}
	r.produce(in, start, end, spec.Units[n].Kind())
}

// meetPipes lets global time catch up while a composite runs or others use the engines of the PE:
// their order must be known.
func (r *rank) meetPipes() {
	if r.composites > 0 || r.sharesEngines() {
		r.sync()
	}
}

// sharesEngines reports whether other programs or blocks use the engines of the PE too.
func (r *rank) sharesEngines() bool { return r.engines != &r.PE || r.blocks != nil }

// produce completes an instruction whose engine works from start to end.
func (r *rank) produce(in *tl.Instr, start, end unit.Time, k trace.Kind) {
	r.read(in.A, end)
	r.read(in.B, end)
	r.read(in.C, end)
	d := tl.DriverOf(r.ctx).Cell(in.Dst)
	d.Ready = end
	r.Completed(end)
	r.computed = max(r.computed, end)
	if r.run.log != nil {
		d.Value = r.run.log.Math(r.origin(), in, r.ctx)
	}
	r.emitSpan(k, start, end, in.Bytes(), r.currentCall())
}

// enqueue waits for a free place in a DMA queue and takes it. A queue only empties by itself, so a
// free place may be taken ahead of time. That does not hold if a payload that is still being sent,
// a composite, or others that share the engines may take the place first.
func (r *rank) enqueue(q dma.Queue) {
	spec, engine := &r.run.e.spec.DMA, &r.engines.DMA
	if q == dma.Compute && r.composites > 0 || q == dma.Collective && r.mayFill() || r.parent != nil || r.blocks != nil {
		r.sync()
	}
	if engine.Full(spec, q, r.Clock) {
		r.sync()
		for engine.Full(spec, q, r.Clock) {
			if end, ok := engine.NextLeaves(q); ok {
				r.wake(end)
			}
			r.parkOn(forDMA, int32(q))
		}
	}
	engine.Enter(q)
}

// mayFill reports whether payloads that are still being sent could fill the DMA queue of messages.
// A queue with a place for every slot of the rings in use cannot be filled by them.
func (r *rank) mayFill() bool {
	depth := r.run.e.spec.DMA.Depth
	if !r.queued && r.inUse*r.run.mostSlots <= depth {
		return false
	}
	unsent := r.unsent()
	return unsent > 0 && r.engines.DMA.Used(dma.Collective)+unsent >= depth
}

// unsent returns the number of tokens of payloads that are being sent which have no slot yet.
func (r *rank) unsent() int {
	n := 0
	for _, q := range r.tx {
		if s := &q.payload; s.Open() {
			n += int(s.Parts - s.Next)
		}
	}
	return n
}

func (r *rank) address(op string, a mem.Addr, bytes int64) {
	if why := r.run.e.checkAddress(a, bytes); why != "" {
		place := tl.DriverOf(r.ctx).Place(op)
		if r.stream != nil {
			place = r.placeOfOp()
		}
		tl.DriverOf(r.ctx).Fail(&fault.BadAddress{Place: place, Addr: a.String(), At: uint64(a), Bytes: bytes, Reason: why})
	}
}
