package sim

import (
	"kernbench/des"
	"kernbench/dtype"
	"kernbench/hw/dma"
	"kernbench/hw/memory"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/oplog"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/frames"
	"kernbench/unit"
)

func node(m *machine.Machine, a mem.Addr) machine.NodeID { return memory.Node(m, a) }

// transfer is a message of a rank on the fabric. A run may have one in flight for each pair of PEs,
// so it is kept small.
type transfer struct {
	channels uint16 // number of channels that carry the message; 0: not limited by channels

	kind  transferKind
	port  uint8 // index of a ring: for a token, at its sender; for a fetched or copied slot, at its receiver
	rx    uint8 // index in rank.rx of the ring that owns slot
	seen  bool  // the receiver has seen its arrival, or the time at which it will is set
	typ   dtype.Type
	rank  int32
	cell  int32 // tensor of the kernel that it fills, or tl.None
	gen   uint32
	slot  int32 // ring slot that it reads, or -1
	turn  int32 // number of the turn (one repetition of a task) that it is part of; 0: none
	value tl.Value
	off   int32 // first element within the value
	n     int32
	total int32
	seq   uint32       // of the token in its ring
	ref   uint32       // index: in run.tokens (token), run.effects (one-sided call) or run.multis; store: 1 + peer
	rows  int32        // of a load or store: ranges of memory, at a distance of pitch; 0: one range
	route noc.Route    // of the data that a request asks for
	line  *frames.Call // of the kernel, if lines are recorded
	addr  mem.Addr
	bytes int64
	pitch int64
	at    unit.Time // when it was started
	pipe  *pipeline
}

// becomes changes the kind of a transfer: a request becomes its data, or a reply.
func (t *transfer) becomes(k transferKind) { t.kind = k }

type transferKind uint8

const (
	transferLoad  transferKind = iota
	transferStage              // source of a send from memory, in flight into the PE
	transferTile               // operand of a composite
	transferStep               // step of a composite whose operands are in the PE: it moves no bytes
	transferStore
	transferOutput // output of a composite
	transferFetch  // slot outside the PE, in flight into it
	transferCopy   // slot to memory
	transferToken
	transferEngineCopy   // copy of a stream, from memory to memory
	transferEngineReturn // the data of a copy within one memory, on the way back to that memory

	// Requests for data of another memory, in the order of the kinds of that data.
	transferRequestLoad
	transferRequestStage
	transferRequestTile

	// One-sided communication.
	transferPut
	transferGet
	transferAtomic
	transferReply // to an atomic
	transferRequestPut
	transferRequestGet

	// Loads and stores of all copies of a window: messages up to a switch, and down from there. For
	// a message down, the kind to a member is one more than the kind to a switch.
	transferGroupAsk     // request of a load, up to a switch
	transferGroupSpread  // request, down to a switch
	transferGroupRequest // request, down to a member
	transferGroupRead    // data of a member, or combined data of a switch below, up to a switch
	transferGroupResult  // result of a load, down to a switch
	transferGroupSum     // result of a load, down to the PE
	transferGroupWrite   // data of a store, up to a switch
	transferGroupForward // data of a store, down to a switch
	transferGroupCopy    // data of a store, down to a member
	transferGroupBoth    // an operation that loads and stores; no message has this kind
)

// begin starts transfer i on the fabric, at a time that may lie in the future.
func (r *rank) begin(at unit.Time, route noc.Route, c noc.Class, bytes int64, i uint32, key des.Key) {
	x := r.run
	t := x.xfers.At(i)
	var origin cause.Point
	if r.causes != nil {
		if origin = r.origins(at); t.kind == transferToken {
			origin = x.causes.Begin(cause.StepOf(t.seq), origin)
		}
	}
	x.e.net.Send(at, noc.Transfer{
		Route: route, Class: c, Bytes: bytes, Source: r.source, User: i,
		Cause: origin,
		Taken: x.log != nil && (t.kind == transferLoad || t.kind == transferStage || t.kind == transferEngineCopy),
	}, key)
}

// outstanding is the work of a rank that is not complete.
type outstanding struct {
	inFlight   int32    // transfers of its own
	composites int32    // that have not ended
	accesses   []access // of memory, in flight
}

// startsTransfer counts a transfer that the rank has started.
func (r *rank) startsTransfer() { r.inFlight++ }

// endsTransfer notes that a transfer of the rank is complete.
func (r *rank) endsTransfer(at unit.Time) {
	r.inFlight--
	r.Completed(at)
	r.transferEnded()
}

// sink is the Executor as a noc.Sink: the fabric notifies it of transfers.
type sink Executor

// Departed is called in advance: the source of a transfer will have been read at end. Then its
// place in the DMA queue is free, and the ring slot that it has read may be given back.
func (s *sink) Departed(user uint32, end unit.Time) {
	if s.replaying != nil {
		s.replaying.Departed(user, end)
		return
	}
	x := s.run
	if x.causes != nil {
		x.setCurrent(x.e.net.SinkCause())
	}
	if user&noticeBit != 0 {
		return
	}
	t := x.xfers.At(user)
	r := &x.ranks[t.rank]
	slot, port := t.slot, t.rx
	switch t.kind {
	case transferLoad, transferStore, transferTile, transferOutput, transferStage:
		r.leave(dma.Compute, end)
	case transferToken:
		r.leave(dma.Collective, end)
		r.endsTransfer(end)
		if r.inFlight == 0 && r.wait == forDrain {
			r.wake(end)
		}
	case transferPut, transferGet:
		r.departedSided(t, end)
	case transferGroupWrite:
		if t.off == t.total-1 {
			r.leave(dma.Compute, end)
		}
	}
	if slot >= 0 {
		r.rx[port].slots[slot].EndRead(end)
		x.useEnds(r.rx[port], uint32(slot), x.current)
		r.giveCredits(int(port))
	}
	if t.kind == transferPut && r.wait == forSource && r.target == int32(user) {
		r.AdvanceTo(end)
		x.resume(r)
	}
}

// leave frees a place in a DMA queue at a future time, and wakes a kernel that waits for one.
func (r *rank) leave(q dma.Queue, end unit.Time) {
	now := r.run.e.q.Now()
	r.engines.DMA.Leave(q, now, end)
	if r.causes != nil {
		r.run.busyOf(r.engines).leaves(r.run.causes, int(q), r.run.current, now)
	}
	switch {
	case r.blocks != nil:
		for k := range r.blocks {
			r.blocks[k].wakeForDMA(q, end)
		}
		return
	case r.parent == nil:
		r.wakeForDMA(q, end)
		return
	case r.task != nil:
		for _, other := range r.task.queue.engine.queues {
			other.programSlot.wakeForDMA(q, end)
		}
		return
	}
	// Any stream may hold programs on this PE. All of them use its DMA queue, so wake all.
	for i := range r.run.batch.Streams {
		if s := &r.run.ranks[i]; s.pe == r.pe {
			for k := range s.stream.programSlots {
				s.stream.programSlots[k].wakeForDMA(q, end)
			}
		}
	}
}

// wakeForDMA wakes the kernel if it waits for a place in a DMA queue.
func (r *rank) wakeForDMA(q dma.Queue, at unit.Time) {
	if r.wait == forDMA && r.target == int32(q) {
		r.wake(at)
	}
}

// Taken is called when the source bytes of a load or copy have been read. It logs their values.
func (s *sink) Taken(user uint32) {
	x := s.run
	t := x.xfers.At(user)
	r := &x.ranks[t.rank]
	o := t.origin(r, x.e.q.Now())
	t.eachRow(func(off, n int32, a mem.Addr) { x.log.Load(o, t.value, int(off), int(n), int(t.total), t.typ, a) })
}

// currentCall returns the call of the kernel that the rank performs, if lines are recorded.
func (r *rank) currentCall() *frames.Call { return tl.DriverOf(r.ctx).Call() }

func (t *transfer) origin(r *rank, now unit.Time) oplog.Origin {
	return oplog.Origin{Rank: r.index, PE: r.pe, Turn: t.turn, Time: now, Line: t.line.Text()}
}

// Delivered handles a transfer whose last byte has arrived.
func (s *sink) Delivered(user uint32, now unit.Time) {
	if s.replaying != nil {
		s.replaying.Delivered(user, now)
		return
	}
	x := s.run
	if user&noticeBit != 0 {
		x.noticeArrived(user, now)
		return
	}
	arrived := x.xfers.At(user)
	if x.causes != nil && !arrived.seen {
		x.setCurrent(x.e.net.SinkCause())
	}
	if arrived.kind >= transferGroupAsk {
		x.deliveredMulti(user, now)
		return
	}
	if arrived.kind >= transferPut {
		x.deliveredSided(user, now)
		return
	}
	r := &x.ranks[arrived.rank]
	if arrived.kind >= transferRequestLoad {
		arrived.becomes(arrived.kind - transferRequestLoad + transferLoad) // the requested data
		r.begin(now, arrived.route, noc.Compute, r.onWire(arrived), user, r.nextKey(des.Arrive, seqReply))
		return
	}
	if arrived.kind == transferToken && x.delayVisibility(r, user, &arrived.seen, now, r.lateToken(arrived)) {
		return
	}
	t := *arrived
	arrived.pipe = nil
	x.xfers.Drop(user)
	switch t.kind {
	case transferToken:
		x.arrive(r, &t, now)
		return
	case transferTile, transferStep:
		t.pipe.arrived(int(t.off), now)
		return
	case transferOutput:
		t.pipe.stored(now)
		return
	case transferFetch:
		r.filled(&t, now)
		return
	case transferEngineCopy, transferEngineReturn:
		r.copyDelivered(&t, now)
		return
	case transferStore, transferCopy:
		x.written(r, &t, now)
		if t.ref != 0 {
			r.storeArrived(int32(t.ref-1), now)
		}
	}
	x.release(t.value)
	r.endsTransfer(now)
	r.accessed(user)
	switch t.kind {
	case transferLoad:
		r.emitSpan(trace.Load, t.at, now, t.bytes, t.line)
		r.filled(&t, now)
	case transferStore:
		r.emitSpan(trace.Store, t.at, now, t.bytes, t.line)
	}
	// A load fills a cell, and a store may be awaited by others: neither ends a wait for a copy. A
	// wait for an access rechecks its memory after each access.
	if r.wait == forCopy && t.kind != transferLoad && t.kind != transferStore || r.wait == forAccess {
		r.AdvanceTo(now)
		x.resume(r)
		return
	}
	if r.wait >= forGet { // a wait for one-sided communication
		r.progress(0, now)
	}
}

// written logs the store of a transfer, if the run has an op log.
func (x *run) written(r *rank, t *transfer, now unit.Time) {
	if x.log != nil {
		o := t.origin(r, now)
		t.eachRow(func(off, n int32, a mem.Addr) { x.log.Store(o, a, t.value, off, int(n), t.typ) })
	}
}

// eachRow calls f with the elements of each range of memory of a load or store.
func (t *transfer) eachRow(f func(off, n int32, a mem.Addr)) {
	if t.rows == 0 {
		f(t.off, t.n, t.addr)
		return
	}
	n := t.n / t.rows
	for i := range t.rows {
		f(t.off+i*n, n, t.addr+mem.Addr(int64(i)*t.pitch))
	}
}

func (x *run) release(v tl.Value) {
	if x.log != nil {
		x.log.Release(v)
	}
}

// filled notes that a piece of a cell has arrived. The last piece resumes the kernel if it waits
// for the cell.
func (r *rank) filled(t *transfer, now unit.Time) {
	if t.cell == tl.None {
		return
	}
	c := tl.DriverOf(r.ctx).Cell(t.cell)
	if c.Gen() != t.gen {
		return // the kernel has freed it meanwhile
	}
	c.Waiting--
	c.Ready = max(c.Ready, now)
	if r.causes != nil {
		r.causes.filledAt(t.cell, r.run.current)
	}
	if c.Waiting == 0 && r.wait == forCell && r.target == t.cell {
		r.run.resume(r)
	}
}
