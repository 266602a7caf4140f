package sim

import (
	"kernbench/des"
	"kernbench/dtype"
	"kernbench/hw/dma"
	"kernbench/hw/memory"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/frames"
	"kernbench/unit"
)

// oneSidedState is a rank's state for one-sided operations.
type oneSidedState struct {
	multis        int32 // multimem operations in flight: loads or stores of all copies
	peers         peers
	queued        bool      // a put or get has been in the DMA queue of messages: see mayFill
	sidedInFlight int32     // puts, gets, notifications and atomics that are not complete
	opsAckedAt    unit.Time // when the latest acknowledgement of these operations is back
	storesAckedAt unit.Time // when the acknowledgement of the latest store to another PE is back
	fences        uint32
	reply         int64 // value that the latest atomic returned
	watch         watch
	spin          spin
	randomSched   randomSched
}

// effect is the effect of a one-sided transfer at its destination.
type effect struct {
	wordUpdate
	expect int64

	local      mem.Addr // source of a put from memory, or destination of a get
	fromMemory bool     // the source of a put is in memory
	combine    bool
	lines      tl.PacketLine // lines of a packet that carry the word
	by         dtype.BinaryOp
}

// wordUpdate is the update of a word of a peer.
type wordUpdate struct {
	win    *mem.Window
	value  int64     // in a reply to an atomic: the former value of the word
	info   *callInfo // nil unless the run is traced or its schedule is random
	member int32     // member of the window's team whose copy changes
	peer   int32     // index of the peer in rank.peers
	word   int32     // -1: none
	typ    mem.WordType
	op     effectOp
}

// callInfo holds the data of a wordUpdate that only traces and random schedules need.
type callInfo struct {
	start unit.Time    // of the call
	flow  uint64       // in the trace
	line  *frames.Call // of a notification
	late  unit.Time    // delay of the arrival by a random schedule; -1: it has passed
}

// newCallInfo returns the callInfo of a call, or nil if none is needed.
func (r *rank) newCallInfo(call unit.Time) *callInfo {
	if r.run.e.opts.Trace == nil && r.run.e.opts.Seed == 0 {
		return nil
	}
	return &callInfo{start: call, flow: r.flow()}
}

// effectOp is the update of a word.
type effectOp uint8

const (
	setWord effectOp = iota // as tl.SignalSet
	addWord                 // as tl.SignalAdd
	swapWord
)

// put starts a copy into the memory of a peer. A put of memory waits until its source has been
// read, unless the call is non-blocking (NBI).
func (r *rank) put(in *tl.Instr) {
	const isPut = true
	x, e, s := r.run, r.run.e, in.Side
	call := r.Clock
	bytes := in.Bytes()
	i := r.peer(s.Win.Team.PEs[s.Peer])
	r.address("put", s.Remote, bytes)
	fromMemory := in.A == tl.None && in.N > 0
	from := e.m.TCM(int(r.seat))
	switch {
	case fromMemory:
		r.address("put", s.Local, bytes)
		r.awaitLocal(s.Local, bytes, false)
		from = node(e.m, s.Local)
	case in.A != tl.None:
		r.complete(in.A)
		if c := tl.DriverOf(r.ctx).Cell(in.A); c.InSlot {
			from = memory.RingNode(e.m, int(r.pe), x.ring.Space)
		}
	}
	r.order(i, pathID(from), isPut)
	r.queued = true
	r.enqueue(dma.Collective)
	op := r.book.Sided(in)
	p := r.peers.at(i)
	t := transfer{
		kind: transferPut, rank: r.id, cell: tl.None, slot: -1, typ: in.Type, addr: s.Remote, channels: uint16(in.Channels),
		n: int32(in.N), total: int32(in.N), bytes: bytes, at: r.Clock, line: r.currentCall(), turn: r.turn,
	}
	f := effect{
		wordUpdate: wordUpdate{win: s.Win, member: s.Peer, peer: i, word: -1, info: r.newCallInfo(call)},
		local:      s.Local, fromMemory: fromMemory, combine: s.Atomic, by: in.Binary, lines: s.Lines,
	}
	if f.info != nil {
		f.info.late = r.lateness()
	}
	if s.Signal {
		f.word, f.typ, f.op, f.value = s.Word, s.WordType, effectOp(s.Op), s.Value
	}
	if in.A != tl.None {
		c := tl.DriverOf(r.ctx).Cell(in.A)
		t.value, t.off = c.Value, c.Off+in.AOff
		if x.log != nil {
			x.log.Retain(t.value)
		}
		r.noteRead(in.A, &t)
	}
	t.route = r.routeTo(i, from)
	start := r.startTime(i, byPut, r.Clock+e.spec.DMA.Setup)
	user := r.newSided(&t, &f)
	p.out++
	if fromMemory && !r.holds(s.Local) {
		// A request for the source goes to its memory.
		x.xfers.At(user).becomes(transferRequestPut)
		r.begin(start, e.request(e.m.PE(int(r.seat)), from), noc.Control, int64(e.topo.Fabric().RequestBytes), user,
			r.nextKey(des.Arrive, seqProgram))
	} else {
		r.begin(start, t.route, noc.Collective, x.putWire(bytes, s.Lines), user, r.nextKey(des.Arrive, seqProgram))
	}
	if fromMemory && !s.NBI {
		r.parkOn(forSource, int32(user))
	}
	if !s.NBI {
		r.book.Done(op, history.Source)
	}
	r.awaitSequential(i)
}

// get starts a copy from the memory of a peer, and waits for it unless the call is non-blocking
// (NBI).
func (r *rank) get(in *tl.Instr) {
	x, e, s := r.run, r.run.e, in.Side
	call := r.Clock
	bytes := in.Bytes()
	pe := s.Win.Team.PEs[s.Peer]
	i := r.peer(pe)
	r.address("get", s.Remote, bytes)
	r.address("get", s.Local, bytes)
	r.awaitLocal(s.Local, bytes, true)
	r.queued = true
	r.enqueue(dma.Collective)
	op := r.book.Sided(in)
	t := transfer{
		kind: transferGet, rank: r.id, cell: tl.None, slot: -1, typ: in.Type, addr: s.Remote,
		n: int32(in.N), total: int32(in.N), bytes: bytes, at: r.Clock, line: r.currentCall(), turn: r.turn,
	}
	f := effect{wordUpdate: wordUpdate{win: s.Win, member: s.Peer, peer: i, word: -1, info: r.newCallInfo(call)}, local: s.Local}
	ask, data := r.routesFrom(i, node(e.m, s.Local))
	t.route = data
	start := r.startTime(i, byGet, r.Clock+e.spec.DMA.Setup)
	user := r.newSided(&t, &f)
	if pe == r.seat {
		r.begin(start, t.route, noc.Collective, bytes, user, r.nextKey(des.Arrive, seqProgram))
	} else {
		x.xfers.At(user).becomes(transferRequestGet)
		r.begin(start, ask, noc.Control, int64(e.topo.Fabric().RequestBytes), user, r.nextKey(des.Arrive, seqProgram))
	}
	if !s.NBI {
		r.parkOn(forGet, int32(user))
		r.book.Done(op, history.Whole)
	}
}

// newSided registers a transfer and its effect on arrival. It returns the number of the transfer.
func (r *rank) newSided(t *transfer, f *effect) uint32 {
	r.sidedInFlight++
	t.ref = r.run.effects.Put(f)
	return r.run.xfers.Put(t)
}

// holds reports whether an address is in a memory of the rank's own PE, so that reading it needs no
// request.
func (r *rank) holds(a mem.Addr) bool {
	return a.Space() != mem.SRAM && a.Unit() == int(r.seat)
}

// awaitLocal waits until no load or store of this PE in flight conflicts with the local access of a
// put or get. The put or get may use another queue of the port and overtake the load or store.
func (r *rank) awaitLocal(a mem.Addr, bytes int64, write bool) {
	for r.conflicts(a, a+mem.Addr(bytes), write) {
		r.park(forAccess)
	}
}

// departedSided handles the departure of a put or get: its source has been read. From now on the
// transfer carries the values.
func (r *rank) departedSided(t *transfer, end unit.Time) {
	x := r.run
	r.leave(dma.Collective, end)
	f := x.effects.At(t.ref)
	if x.log != nil && t.n > 0 && (f.fromMemory || t.kind == transferGet) {
		from := f.local
		if t.kind == transferGet {
			from = t.addr
		}
		t.value = x.log.NewValue()
		x.log.Load(t.origin(r, x.e.q.Now()), t.value, 0, int(t.n), int(t.n), t.typ, from)
	}
}

// deliveredSided handles the arrival of the last byte of a one-sided transfer.
func (x *run) deliveredSided(user uint32, now unit.Time) {
	place := x.xfers.At(user)
	t := *place
	r := &x.ranks[t.rank]
	switch t.kind {
	case transferRequestPut, transferRequestGet:
		if t.kind == transferRequestGet {
			r.arriveSpan(&x.effects.At(t.ref).wordUpdate, now, t.bytes)
		}
		place.becomes(t.kind - transferRequestPut + transferPut) // the constants of requests are in the same order
		r.begin(now, t.route, noc.Collective, x.putWire(t.bytes, x.effects.At(t.ref).lines), user, r.nextKey(des.Arrive, seqReply))
		return
	case transferAtomic:
		if x.delayVisibility(r, user, &place.seen, now, r.late(x.effects.At(t.ref).peer, tl.NoLine)) {
			return
		}
		x.atomicArrived(r, user, now)
		return
	case transferPut:
		if x.delayPut(r, user, now) {
			return
		}
	}
	f := *x.effects.At(t.ref)
	if t.kind == transferPut && !t.seen {
		x.putArrived(&t, &f, now)
	}
	if (t.kind == transferPut || t.kind == transferGet) && f.word >= 0 && x.delayVisibility(r, user, &place.seen, now, r.latePut(&t, &f)) {
		return
	}
	r.sidedInFlight--
	switch t.kind {
	case transferPut:
		r.oneSidedSpan(trace.Put, &f.wordUpdate, now, t.bytes, t.line)
		r.arriveSpan(&f.wordUpdate, now, t.bytes)
		r.opsAckedAt = max(r.opsAckedAt, r.acknowledge(f.peer, now))
		r.oneSidedEnded(f.peer)
	case transferGet:
		if x.log != nil {
			x.log.Store(t.origin(r, now), f.local, t.value, 0, int(t.n), t.typ)
			x.log.Release(t.value)
		}
		r.oneSidedSpan(trace.Get, &f.wordUpdate, now, t.bytes, t.line)
		if f.win.Team.PEs[f.member] == r.seat {
			r.arriveSpan(&f.wordUpdate, now, t.bytes) // a get from this PE sends no request
		}
		r.opsAckedAt = max(r.opsAckedAt, now)
		r.oneSidedEnded(-1)
	case transferReply:
		r.opsAckedAt = max(r.opsAckedAt, now)
		r.oneSidedEnded(-1)
		r.reply, f.word = f.value, -1
	}
	if f.lines != tl.NoLine {
		f.win.PacketArrived(f.member, f.word, f.lines.Count(t.bytes))
	}
	if f.word >= 0 {
		x.update(&f.wordUpdate, now)
	}
	r.progress(user, now)
	x.effects.Drop(t.ref)
	x.xfers.Drop(user)
}

// putArrived makes the data of a put visible.
func (x *run) putArrived(t *transfer, f *effect, now unit.Time) {
	if x.log == nil {
		return
	}
	o := t.origin(&x.ranks[t.rank], now)
	switch {
	case t.n == 0:
	case f.combine:
		x.log.Combine(o, t.addr, t.value, t.off, int(t.n), t.typ, f.by)
	default:
		x.log.Store(o, t.addr, t.value, t.off, int(t.n), t.typ)
	}
	x.log.Release(t.value)
}
