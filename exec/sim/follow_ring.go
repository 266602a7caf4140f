package sim

import (
	"kernbench/des"
	"kernbench/hw/noc"
	"kernbench/tl"
	"kernbench/trace"
	"kernbench/unit"
)

// send puts a payload into a ring: its first token when there is a slot for it, the rest as slots
// come free, while the kernel goes on. It returns false while there is none.
func (w *follow) send(f *follower, o *op) bool {
	if !f.begun {
		f.from = f.clock
		if o.kind == opSendRef {
			w.stage(f, o)
		} else {
			w.operand(f, o.a)
		}
		f.waited = f.clock
	}
	s := &f.tx[o.port]
	switch slots := uint32(w.ring.Slots); {
	case s.streaming:
		return f.waits(forStream, o.port)
	case s.head-s.tail == slots:
		return f.waits(forCredit, o.port)
	}
	f.begun = false
	if s.accepted > f.clock {
		w.hear(f, s.accepted)
	}
	w.hear(f, *w.credit(s))
	f.clock += w.e.spec.Send
	seq := s.head
	t, in, at := w.source(f, o)
	if parts := w.forms[o.form].parts; parts > 1 {
		f.unsent++
		s.streaming, s.stream = true, partial{token: t, slot: at, in: in, notBefore: f.clock}
		if at >= 0 {
			w.slots[f.rx[in].slots+uint32(at)].reads += int16(parts)
		}
		w.pump(f, int(o.port), f.clock)
	} else {
		if at >= 0 {
			w.slots[f.rx[in].slots+uint32(at)].reads++
		}
		w.token(f, int(o.port), t, 0, at, in, f.clock)
	}
	if w.e.opts.Trace != nil {
		w.emit(f, trace.Event{
			Kind: trace.Send, Peer: w.ranks[s.peer].pe, Dir: uint8(s.dir), Start: f.from, End: f.clock,
			Bytes: f.detail[f.at].bytes(), Seq: int64(seq), Stalled: f.clock - f.waited - w.e.spec.Send,
		})
	}
	return true
}

// source is what a send sends: its contents, and the slot that they lie in, if any.
func (w *follow) source(f *follower, o *op) (t token, ring uint8, slot int32) {
	t, slot = token{form: o.form}, -1
	if o.kind == opSend && o.a != tl.None {
		c := &f.cells[o.a]
		ring, slot = c.port, c.slot
	}
	if w.log != nil {
		w.sourceValue(f, o, &t)
	}
	return t, ring, slot
}

// stage brings the source of a send from memory into the PE, so that what is sent is what was
// there at the call, however long the message takes to leave.
func (w *follow) stage(f *follower, o *op) {
	w.enqueue(f)
	_, done := w.book(f, o.time)
	if w.log != nil {
		w.stagedAt(f, done)
	}
	f.clock, f.seen = max(f.clock, done), done
}

// credit is when the slot of the next token came back that a ring is known to have.
func (w *follow) credit(s *sender) *unit.Time {
	return &w.credits[s.credits+s.head%uint32(w.ring.Slots)]
}

// pump sends what the stream of a ring still has, as far as there are slots. The first part is
// accepted when the send is; the others when their slots have come back.
func (w *follow) pump(f *follower, port int, at unit.Time) {
	s := &f.tx[port]
	t := &s.stream
	for s.streaming && s.head-s.tail < uint32(w.ring.Slots) {
		if t.next > 0 {
			at = max(at, *w.credit(s))
			s.accepted = at
		}
		part := t.next
		t.next++
		if s.streaming = t.next < w.forms[t.form].parts; !s.streaming {
			f.unsent--
		}
		w.token(f, port, t.token, part, t.slot, t.in, max(at, t.notBefore))
	}
}

// token sends a part of a payload, which has a slot.
func (w *follow) token(f *follower, port int, t token, part, slot int32, in uint8, at unit.Time) {
	s, form := &f.tx[port], &w.forms[t.form]
	t.off += part * form.per
	seq := s.head
	s.head++
	size, last := form.wire[0], 0
	if form.last(part) == 1 {
		size, last = form.wire[1], 1
	}
	w.result.Messages++
	w.result.Bytes += form.bytes[last]
	if s.private {
		departed, delivered := w.e.net.Through(&s.own, size, at+w.e.spec.DMA.Setup)
		f.last = max(f.last, departed)
		if slot >= 0 {
			w.endRead(f, in, slot, departed)
		}
		w.arrive(f, s, t, seq, form.bytes[last], at, delivered+s.late)
		return
	}
	i := w.newWire(wire{token: t, rank: f.id, port: uint8(port), in: in, slot: slot, seq: seq, at: at, bytes: form.bytes[last]})
	f.flying++
	w.e.net.Send(at+w.e.spec.DMA.Setup, noc.Transfer{
		Route: s.route, Class: noc.Collective, Bytes: size, Source: uint32(f.pe), User: i,
		Ordered: form.parts == 1 && f.unsent == 0 && w.e.spec.Issue+w.e.spec.Send > 0,
	}, des.MakeKey(des.Arrive, uint32(len(w.e.m.Links))+uint32(f.pe), laneToken+uint8(port), seq))
}

// endRead completes a read of a slot.
func (w *follow) endRead(f *follower, port uint8, slot int32, end unit.Time) {
	s := &w.slots[f.rx[port].slots+uint32(slot)]
	s.reads--
	s.end = max(s.end, end)
	w.giveCredits(f, int(port))
}

// arrive: a token has come to its receiver.
func (w *follow) arrive(f *follower, s *sender, t token, seq uint32, bytes int64, sent, now unit.Time) {
	if w.e.opts.Trace != nil {
		w.emit(f, trace.Event{Kind: trace.Message, Peer: w.ranks[s.peer].pe, Dir: uint8(s.dir), Start: sent, End: now, Bytes: bytes, Seq: int64(seq)})
	}
	w.rest = max(w.rest, now)
	if x := w.side; x != nil && !x.follows(s.peer) {
		x.tell(crossing{rank: s.peer, port: s.peerIn, form: t.form, at: now})
		return
	}
	w.come(&w.ranks[s.peer], s.peerIn, t, now)
}

// come: a rank has got a token, which it can see from now on.
func (w *follow) come(r *follower, port uint8, t token, now unit.Time) {
	p := &r.rx[port]
	i := p.slots + p.head%uint32(w.ring.Slots)
	w.slots[i] = slot{seen: now, form: t.form}
	if w.log != nil {
		w.tokens[i] = t
	}
	p.head++
	if r.wait == forToken && r.port == port {
		w.wake(r)
	}
}

// recv takes the next token of a ring; a payload of several slots is assembled, slot by slot. It
// returns false while there is none.
func (w *follow) recv(f *follower, o *op) bool {
	p := &f.rx[o.port]
	if !f.begun {
		f.from, f.part = f.clock, 0
		w.letGo(f, int(o.port))
	}
	for {
		if p.head == p.taken {
			return f.waits(forToken, o.port)
		}
		at := p.taken % uint32(w.ring.Slots)
		s := &w.slots[p.slots+at]
		w.hear(f, s.seen)
		if f.part == 0 {
			f.clock += w.e.spec.Recv
			f.waited = f.clock
			f.got = s.form
		}
		p.taken++
		if !o.more || !w.sameSize(o, f.got) {
			p.held = int32(at)
			w.lent(f, o, p, int32(at))
			break
		}
		form := &w.forms[s.form]
		f.clock += form.tcm[form.last(f.part)]
		if w.log != nil {
			w.assembled(f, o, w.tokens[p.slots+at], f.part)
		}
		s.end, s.ended = max(s.end, f.clock), true
		w.giveCredits(f, int(o.port))
		if f.part++; f.part == form.parts {
			f.cells[o.dst] = cell{ready: f.clock, slot: -1}
			break
		}
	}
	f.begun = false
	if w.e.opts.Trace != nil {
		w.received(f, o, p)
	}
	if f.got != o.form && (w.ring.Strict || !w.sameSize(o, f.got)) {
		w.failed(f)
		return false
	}
	return true
}

// lent gives the kernel the slot itself.
func (w *follow) lent(f *follower, o *op, p *receiver, slot int32) {
	f.cells[o.dst] = cell{ready: f.clock, slot: slot, port: o.port}
	if w.log != nil {
		f.values[o.dst] = w.as(f, w.tokens[p.slots+uint32(slot)], o.form)
	}
}

// sameSize tells whether a payload of a form is as large as what a receive names, which without
// strict validation is enough.
func (w *follow) sameSize(o *op, got uint32) bool {
	if got == o.form {
		return true
	}
	a, b := &w.forms[o.form], &w.forms[got]
	return a.n == b.n && a.typ.Size() == b.typ.Size()
}

// letGo ends the kernel's hold on the slot that it was lent last from a ring.
func (w *follow) letGo(f *follower, port int) {
	p := &f.rx[port]
	if p.held < 0 {
		return
	}
	s := &w.slots[p.slots+uint32(p.held)]
	s.end, s.ended = max(s.end, f.clock), true
	p.held = -1
	w.giveCredits(f, port)
}

// giveCredits sends the credits of slots that nobody uses any more, in the order of the ring.
func (w *follow) giveCredits(f *follower, port int) {
	p := &f.rx[port]
	for p.tail != p.taken {
		s := &w.slots[p.slots+p.tail%uint32(w.ring.Slots)]
		if !s.ended || s.reads > 0 {
			return
		}
		p.tail++
		p.sent = max(p.sent, s.end)
		if w.e.opts.Trace != nil {
			w.emit(f, trace.Event{
				Kind: trace.Credit, Peer: w.ranks[p.peer].pe, Start: p.sent, End: p.sent + p.credit,
				Bytes: w.ring.CreditBytes, Seq: int64(p.tail - 1),
			})
		}
		w.credited(p, p.sent+p.credit)
	}
}

// credited: a ring's sender gets a slot back at a time.
func (w *follow) credited(p *receiver, at unit.Time) {
	w.rest = max(w.rest, at)
	if x := w.side; x != nil && !x.follows(p.peer) {
		x.tell(crossing{rank: p.peer, port: p.peerOut, at: at})
		return
	}
	w.slotBack(&w.ranks[p.peer], p.peerOut, at)
}

// slotBack: a rank may use a slot of a ring again, from a time on.
func (w *follow) slotBack(f *follower, port uint8, at unit.Time) {
	s := &f.tx[port]
	w.credits[s.credits+s.tail%uint32(w.ring.Slots)] = at
	s.tail++
	if s.streaming {
		w.pump(f, int(port), at)
		if !s.streaming && f.wait == forDrain && f.flying == 0 {
			w.wake(f)
		}
	}
	if f.port == port && (f.wait == forCredit || f.wait == forStream && !s.streaming) {
		w.wake(f)
	}
}

// wire is a token on links that several routes share.
type wire struct {
	token
	rank  int32
	slot  int32 // of a ring, that is read, or -1
	port  uint8 // ring that it goes into
	in    uint8 // ring of that slot
	seq   uint32
	next  uint32
	at    unit.Time
	bytes int64
}

func (w *follow) newWire(t wire) uint32 {
	if i := w.wireFree; i != 0 {
		w.wireFree = w.wires[i].next
		w.wires[i] = t
		return i
	}
	w.wires = append(w.wires, t)
	return uint32(len(w.wires) - 1)
}

// departed: a token has been read, and its slot may go.
func (w *follow) departed(user uint32, end unit.Time) {
	t := &w.wires[user]
	f := &w.ranks[t.rank]
	f.flying--
	f.last = max(f.last, end)
	if f.flying == 0 && f.wait == forDrain {
		w.wake(f)
	}
	if slot, in := t.slot, t.in; slot >= 0 {
		w.endRead(f, in, slot, end)
	}
}

// delivered: a token has arrived whole.
func (w *follow) delivered(user uint32, now unit.Time) {
	t := w.wires[user]
	w.wires[user].next, w.wireFree = w.wireFree, user
	f := &w.ranks[t.rank]
	s := &f.tx[t.port]
	w.arrive(f, s, t.token, t.seq, t.bytes, t.at, now+s.late)
}
