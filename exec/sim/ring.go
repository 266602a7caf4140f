package sim

import (
	"kernbench/des"
	"kernbench/dtype"
	"kernbench/hw/dma"
	"kernbench/hw/ipcq"
	"kernbench/hw/memory"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/history"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// ringUse is the state of a rank that its rings share.
type ringUse struct {
	lastAny int // port that the last undirected receive took from
	inUse   int // rings that it has sent into
}

// send puts a payload into a ring. The kernel waits for a slot for the first token and then
// continues. The other tokens follow as slots become free.
func (r *rank) send(in *tl.Instr) {
	x, port := r.run, in.Port
	from := r.Clock
	tok := ipcq.Token{N: int32(in.N), Total: int32(in.N), Type: in.Type, Shape: in.Shape, Parts: int32(x.ring.Parts(in.N, in.Type))}
	slot, slotIn := int32(-1), uint8(0)
	q := r.tx[port]
	r.noteStep(q.Sent + uint32(q.payload.Parts-q.payload.Next))
	if in.A == tl.None {
		// stage parks the kernel, so the Context does not reuse in.
		tok.Value = r.stage(in)
	} else {
		r.complete(in.A)
		c := tl.DriverOf(r.ctx).Cell(in.A)
		tok.Value, tok.Off = c.Value, c.Off+in.AOff
		if c.InSlot {
			slot, slotIn = int32(c.Slot), c.In
		}
		if c.InSlot && !x.ring.OnRecv {
			r.rx[slotIn].slots[slot].BeginRead(int(tok.Parts))
		}
		if x.log != nil {
			x.log.Retain(tok.Value)
		}
	}
	waited := r.Clock
	for q.payload.Open() || q.Full(q.sizing) {
		w := forCredit
		if q.payload.Open() {
			w = forStream
		}
		r.parkOn(w, int32(port))
	}
	if x.log != nil {
		for range tok.Parts - 1 {
			x.log.Retain(tok.Value)
		}
	}
	r.Spend(x.e.spec.Send)
	r.attribute(cause.Issue, cause.IPCQ)
	if q.Sent == 0 {
		r.inUse++
	}
	r.enqueue(dma.Collective)
	seq := q.Sent
	if x.history != nil {
		s := &r.sends[port]
		s.op, s.line = x.history.NextOp(), tl.DriverOf(r.ctx).Line()
	}
	q.payload = payload{
		Stream: ipcq.Stream{Parts: tok.Parts, NotBefore: r.Clock}, token: tok, per: int32(x.ring.SlotElems(in.Type)),
		slot: slot, in: slotIn, channels: uint16(in.Channels),
		line: r.currentCall(),
	}
	if r.causes != nil {
		q.causes.payload = r.causes.at
	}
	r.sendToken(port, r.Clock)
	r.pump(port, r.Clock)
	if x.e.opts.Trace != nil {
		r.emit(trace.Event{
			Kind: trace.Send, Peer: x.ranks[q.to].pe, Dir: uint8(x.dirOf(q)), Start: from, End: r.Clock,
			Bytes: in.Bytes(), Seq: int64(seq), Stalled: r.Clock - waited - x.e.spec.Send, Ring: q.number(),
			Line: tl.DriverOf(r.ctx).Line(),
		})
	}
}

// sendToken sends the next part of the stream of a ring. A slot must be free.
func (r *rank) sendToken(port int, at unit.Time) {
	x, q := r.run, r.tx[port]
	s := &q.payload
	part := s.token.PartOf(int(s.Next), int(s.per))
	s.Next++
	route, readSlot := q.source, s.slot
	if s.slot >= 0 && x.ring.Space != mem.TCM {
		route = q.fromSlots // read from the memory of the received slot
	}
	if x.ring.OnRecv {
		readSlot = -1 // its credit was already sent
	}
	t := transfer{kind: transferToken, port: uint8(port), rank: r.id, cell: tl.None, slot: readSlot, rx: s.in,
		ref: x.tokens.Put(&part), seq: q.Sent, bytes: part.Bytes(), at: at, channels: s.channels, line: s.line}
	if x.history != nil {
		r.accountSend(port, at)
	}
	i := x.xfers.Put(&t)
	r.startsTransfer()
	key := r.key(des.Arrive, seqToken+uint8(port), q.Sent)
	q.Sent++
	r.begin(at+x.e.spec.DMA.Setup, route, noc.Collective, x.ring.Protocol.Wire(t.bytes), i, key)
}

// pump sends the rest of a ring's stream while slots are free.
func (r *rank) pump(port int, at unit.Time) {
	q := r.tx[port]
	for q.payload.Open() && !q.Full(q.sizing) {
		r.engines.DMA.Enter(dma.Collective)
		r.sendToken(port, max(at, q.payload.NotBefore))
	}
}

// credited handles a credit: the receiver has given a slot of the ring back.
func (x *run) credited(r *rank, port int) {
	now := x.e.q.Now()
	q := r.tx[port]
	q.Return(q.slots, q.sizing, now)
	wasOpen, creditCause := q.payload.Open(), x.current
	if x.causes != nil && q.payload.NotBefore > now {
		x.setCurrent(q.causes.payload)
	}
	r.pump(port, now)
	x.setCurrent(creditCause)
	if int(r.target) != port {
		return
	}
	if r.wait == forCredit || r.wait == forStream && wasOpen && !q.payload.Open() {
		r.Clock = ipcq.Wake(x.ring, r.since, max(now, r.since))
		x.resume(r)
	}
}

// arrive handles a token of rank s that has reached its receiver.
func (x *run) arrive(s *rank, t *transfer, now unit.Time) {
	q := s.tx[t.port]
	r := &x.ranks[q.to]
	if x.e.opts.Trace != nil {
		s.emit(trace.Event{Kind: trace.Message, Peer: r.pe, Dir: uint8(x.dirOf(q)), Start: t.at, End: now,
			Bytes: t.bytes, Seq: int64(t.seq), Ring: q.number(), Line: t.line.Text()})
	}
	x.result.Messages++
	x.result.Bytes += t.bytes
	if x.causes != nil {
		x.causes.Arrived(q.causes.ring, t.bytes)
	}
	q.tokens[q.sizing.Slot(t.seq)] = *x.tokens.At(t.ref)
	x.tokens.Drop(t.ref)
	if q.Arrive(q.slots, q.sizing, t.seq, now) == 0 {
		return
	}
	if r.wait == forToken && r.target == int32(q.in) || r.wait == forAny {
		r.Clock = ipcq.Wake(x.ring, r.since, now)
		x.resume(r)
	}
}

// recv takes the next token of a ring; a payload of several slots is assembled, or copied
// to memory, slot by slot.
func (r *rank) recv(in *tl.Instr) {
	x, port := r.run, in.Port
	from := r.Clock
	if port == tl.AnyPort {
		for i := range r.rx {
			r.releaseSlot(i)
		}
		port = r.pick()
		r.noteStep(r.rx[port].Taken)
		r.book.Plain(history.Any)
	} else {
		r.noteStep(r.rx[port].Taken)
		r.releaseSlot(port)
		r.visible(port)
	}
	q := r.rx[port]
	got := q.tokens[q.sizing.Slot(q.Taken)]
	r.Spend(x.e.spec.Recv)
	r.attribute(cause.Issue, cause.IPCQ)
	stalled := r.Clock - x.e.spec.Recv - from
	in.GotPort, in.GotShape, in.GotType, in.GotN = port, got.Shape, got.Type, int(got.Total)
	seq := q.Taken
	switch {
	case !in.Copy || int(got.Total) != in.N || got.Type.Size() != in.Type.Size():
		r.lendSlot(in, port)
	case in.Dst == tl.None:
		r.copyOut(in, port)
	default:
		r.assemble(in, port)
	}
	if x.e.opts.Trace != nil {
		r.emit(trace.Event{
			Kind: trace.Recv, Peer: x.ranks[q.from].pe, Dir: uint8(r.wiring.In[port].Dir), Start: from, End: r.Clock,
			Bytes: in.Bytes(), Seq: int64(seq), Stalled: stalled, Ring: q.number(), Line: tl.DriverOf(r.ctx).Line(),
		})
	}
}

// visible waits until a token is at the head of a ring.
func (r *rank) visible(port int) {
	for r.rx[port].Waiting() == 0 {
		r.parkOn(forToken, int32(port))
	}
}

// pick waits until any ring has a token, and chooses round-robin. It first waits until global time
// reaches the rank's clock, so that all earlier sends are known.
func (r *rank) pick() int {
	for {
		r.sync()
		for k := 1; k <= len(r.rx); k++ {
			if p := (r.lastAny + k) % len(r.rx); p >= 0 && r.rx[p].Waiting() > 0 {
				r.lastAny = p
				return p
			}
		}
		r.park(forAny)
	}
}

// takeToken takes the next token of a ring, and returns which slot it lies in.
func (r *rank) takeToken(q *ring) (ipcq.Token, int32) {
	r.accountRecv(q)
	slot := q.Take(q.slots, q.sizing)
	if r.causes != nil {
		q.causes.used[slot] = 0
	}
	return q.tokens[slot], int32(slot)
}

// number returns the number of the ring in the trace.
func (q *ring) number() uint32 { return trace.RingNumber(int(q.from), q.out) }

// dirOf returns the sender's direction of a ring.
func (x *run) dirOf(q *ring) tl.Dir { return x.ranks[q.from].wiring.Out[q.out].Dir }

// lendSlot gives the kernel the slot itself.
func (r *rank) lendSlot(in *tl.Instr, port int) {
	q := r.rx[port]
	tok, slot := r.takeToken(q)
	if in.Dst == tl.None {
		r.run.release(tok.Value)
		return
	}
	c := tl.DriverOf(r.ctx).Cell(in.Dst)
	c.Ready, c.InSlot, c.Slot, c.In = r.Clock, true, uint16(slot), uint8(port)
	c.Value, c.Off = r.castToken(in.Type, &tok)
	if r.causes != nil {
		r.causes.filledAt(in.Dst, r.causes.at)
	}
	if r.run.ring.OnRecv {
		r.releaseSlot(port)
		r.Spend(q.credit) // with OnRecv, recv waits until the credit has been sent
		if r.causes != nil {
			r.attributeTo(cause.Credit, q.causes.ring)
		}
	}
}

// assemble copies a payload into scratch. All of its tokens carry pieces of one value, so
// the result shares it.
func (r *rank) assemble(in *tl.Instr, port int) {
	x, q := r.run, r.rx[port]
	c := tl.DriverOf(r.ctx).Cell(in.Dst)
	for part := int32(0); ; part++ {
		tok, slot := r.takeToken(q)
		if x.ring.Space == mem.TCM {
			r.Spend(x.e.spec.TCM.Time(tok.Bytes()))
			r.attribute(cause.Memory, cause.TCM)
			q.slots[slot].Read(r.Clock)
		} else {
			r.fetch(in.Dst, port, slot, tok.Bytes())
			r.complete(in.Dst)
			c = tl.DriverOf(r.ctx).Cell(in.Dst)
		}
		if part == 0 {
			c.Value, c.Off = tok.Value, tok.Off
		} else {
			x.release(tok.Value)
		}
		q.slots[slot].Release(r.Clock)
		x.useEnds(q, uint32(slot), r.point())
		r.giveCredits(port)
		if part+1 == tok.Parts {
			if x.log != nil && tok.Type != in.Type {
				v := x.log.Cast(r.origin(), c.Value, c.Off, tok.Type, in.N, in.Type)
				x.log.Release(c.Value)
				c.Value, c.Off = v, 0
			}
			break
		}
		r.visible(port)
	}
	c.Ready = r.Clock
	if r.causes != nil {
		r.causes.filledAt(in.Dst, r.causes.at)
	}
}

// copyOut copies a payload to memory, token by token, and waits for it.
func (r *rank) copyOut(in *tl.Instr, port int) {
	x, q := r.run, r.rx[port]
	e := x.e
	if in.N > 0 {
		r.address("recv", in.Addr, in.Bytes())
		r.await(in.Addr, in.Bytes(), transferCopy)
	}
	addr := in.Addr
	slots := memory.RingNode(e.m, int(r.pe), x.ring.Space)
	for part := int32(0); ; part++ {
		tok, slot := r.takeToken(q)
		v, off := r.castToken(in.Type, &tok)
		t := transfer{
			kind: transferCopy, rank: r.id, cell: tl.None, slot: slot, rx: uint8(port), typ: in.Type, addr: addr,
			value: v, off: off, n: tok.N, bytes: tok.Bytes(), at: r.Clock, line: r.currentCall(), turn: r.turn,
		}
		if t.n > 0 {
			q.slots[slot].BeginRead(1)
			r.startsTransfer()
			i := x.xfers.Put(&t)
			r.begin(r.Clock+e.spec.DMA.Setup, e.route(slots, node(e.m, addr)), noc.Compute, t.bytes, i, r.nextKey(des.Arrive, seqProgram))
			r.park(forCopy)
		}
		q.slots[slot].Release(r.Clock)
		x.useEnds(q, uint32(slot), r.point())
		r.giveCredits(port)
		addr += mem.Addr(tok.Bytes())
		if part+1 == tok.Parts {
			break
		}
		r.visible(port)
	}
	r.book.Accessed(history.Store, in.Addr, in.Bytes())
}

// castToken returns the content of a token as elements of a type. Without strict validation the
// sender's type may differ. The caller takes over the token's reference to the value.
func (r *rank) castToken(t dtype.Type, tok *ipcq.Token) (tl.Value, int32) {
	log := r.run.log
	if log == nil || tok.Type == t || tok.N == 0 {
		return tok.Value, tok.Off
	}
	v := log.Cast(r.origin(), tok.Value, tok.Off, tok.Type, int(tok.N), t)
	log.Release(tok.Value)
	return v, 0
}

// releaseSlot ends the kernel's use of the slot of the latest receive from a ring.
func (r *rank) releaseSlot(port int) {
	if q := r.rx[port]; q.EndUse(q.slots, q.sizing, r.Clock) {
		if r.causes != nil {
			r.run.useEnds(q, q.sizing.Slot(q.Taken-1), r.causes.at)
		}
		r.giveCredits(port)
	}
}

// giveCredits sends the credits of slots that are no longer in use.
func (r *rank) giveCredits(port int) {
	x, q := r.run, r.rx[port]
	for {
		at, ok := q.Credit(q.slots, q.sizing)
		if !ok {
			return
		}
		r.accountCredit(q, at)
		if x.causes != nil {
			x.returns(q, at)
		}
		x.e.q.Post(des.Event{
			Time: at + q.credit, Key: r.key(des.Arrive, seqCredit+uint8(port), q.Returned),
			Target: noc.Target(kindCredit, uint32(q.from)), Arg: uint32(q.out),
		})
		if x.e.opts.Trace != nil {
			r.emit(trace.Event{Kind: trace.Credit, Peer: x.ranks[q.from].pe, Start: at, End: at + q.credit,
				Bytes: x.ring.CreditBytes, Seq: int64(q.Returned - 1), Ring: q.number()})
		}
	}
}
