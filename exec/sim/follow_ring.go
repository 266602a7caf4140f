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
	id := w.ports[f.tx+uint32(o.port)]
	r := &w.rings[id]
	if r.payload != 0 {
		s := &w.payloads[r.payload-1]
		if s.open {
			r.blocked = forStream
			return f.waits(forStream, o.port)
		}
		if s.accepted > f.clock && r.head-r.tail < w.perRing.by {
			w.hear(f, s.accepted)
		}
	}
	if r.head-r.tail == w.perRing.by {
		r.blocked = forCredit
		return f.waits(forCredit, o.port)
	}
	f.begun = false
	w.hear(f, w.slots[w.slotOf(id, r.head)].time)
	f.clock += w.e.spec.Send
	seq := r.head
	t, at := w.source(f, o)
	if parts := w.forms[o.form].parts; parts > 1 {
		f.unsent++
		if r.payload == 0 {
			w.payloads = append(w.payloads, payload{})
			r.payload = uint32(len(w.payloads))
		}
		w.payloads[r.payload-1] = payload{token: t, slot: at, notBefore: f.clock, accepted: w.payloads[r.payload-1].accepted, open: true}
		if at >= 0 {
			w.slots[at].reads += int16(parts)
		}
		w.pump(f, id, f.clock)
	} else {
		if at >= 0 {
			w.slots[at].reads++
		}
		w.token(f, id, t, 0, at, f.clock)
	}
	if w.e.opts.Trace != nil {
		w.emit(f, trace.Event{
			Kind: trace.Send, Peer: w.ranks[r.to].pe, Dir: w.dirOf(r), Start: f.from, End: f.clock,
			Bytes: f.detail[f.at].bytes(), Seq: int64(seq), Stalled: f.clock - f.waited - w.e.spec.Send,
		})
	}
	return true
}

// dirOf is what the sender of a ring calls it.
func (w *follow) dirOf(r *ring) uint8 {
	f := &w.ranks[r.from]
	return uint8(w.launch.Groups[f.group].Wiring[f.index].Out[r.out].Dir)
}

// source is what a send sends: its contents, and the slot that they lie in, if any.
func (w *follow) source(f *follower, o *op) (t token, slot int32) {
	t, slot = token{form: o.form}, -1
	if o.kind == opSend && o.a != tl.None {
		slot = f.cells[o.a].slot
	}
	if w.log != nil {
		w.sourceValue(f, o, &t)
	}
	return t, slot
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

// pump sends what the stream of a ring still has, as far as there are slots. The first part is
// accepted when the send is; the others when their slots have come back.
func (w *follow) pump(f *follower, id uint32, at unit.Time) {
	r := &w.rings[id]
	s := &w.payloads[r.payload-1]
	for s.open && r.head-r.tail < w.perRing.by {
		if s.next > 0 {
			at = max(at, w.slots[w.slotOf(id, r.head)].time)
			s.accepted = at
		}
		part := s.next
		s.next++
		if s.open = s.next < w.forms[s.form].parts; !s.open {
			f.unsent--
		}
		w.token(f, id, s.token, part, s.slot, max(at, s.notBefore))
	}
}

// token sends a part of a payload, which has a slot.
func (w *follow) token(f *follower, id uint32, t token, part, slot int32, at unit.Time) {
	r, form := &w.rings[id], &w.forms[t.form]
	t.off += part * form.per
	seq := r.head
	r.head++
	size, last := form.wire[0], 0
	if form.last(part) == 1 {
		size, last = form.wire[1], 1
	}
	w.result.Messages++
	w.result.Bytes += form.bytes[last]
	if r.private {
		departed, delivered := w.net.Through(&r.own, r.manner, size, at+w.e.spec.DMA.Setup)
		f.last = max(f.last, departed)
		if slot >= 0 {
			w.endRead(slot, departed)
		}
		w.arrive(id, t, seq, form.bytes[last], at, delivered)
		return
	}
	i := w.newWire(wire{token: t, ring: id, slot: slot, seq: seq, at: at, bytes: form.bytes[last]})
	f.flying++
	w.net.Send(at+w.e.spec.DMA.Setup, noc.Transfer{
		Route: r.own.Route(), Class: noc.Collective, Bytes: size, Source: uint32(f.pe), User: i,
		Crosses: w.side != nil && !w.side.follows(r.to),
		Ordered: form.parts == 1 && f.unsent == 0 && w.e.spec.Issue+w.e.spec.Send > 0,
	}, des.MakeKey(des.Arrive, uint32(w.e.m.NumLinks())+uint32(f.pe), laneToken+r.out, seq))
}

// endRead completes a read of a slot.
func (w *follow) endRead(slot int32, end unit.Time) {
	s := &w.slots[slot]
	s.reads--
	s.time = max(s.time, end)
	w.giveCredits(w.perRing.into(uint32(slot)))
}

// arrive: a token of a ring has come.
func (w *follow) arrive(id uint32, t token, seq uint32, bytes int64, sent, now unit.Time) {
	r := &w.rings[id]
	now += w.manners[r.manner].late
	if w.e.opts.Trace != nil {
		w.emit(&w.ranks[r.from], trace.Event{Kind: trace.Message, Peer: w.ranks[r.to].pe, Dir: w.dirOf(r), Start: sent, End: now, Bytes: bytes, Seq: int64(seq)})
	}
	w.rest = max(w.rest, now)
	if x := w.side; x != nil && !x.follows(r.to) {
		x.tell(crossing{ring: id, form: t.form, at: now})
		return
	}
	w.come(id, t, now)
}

// come: the receiver of a ring has got a token, which it can see from now on.
func (w *follow) come(id uint32, t token, now unit.Time) {
	r := &w.rings[id]
	i := w.slotOf(id, r.come)
	w.slots[i] = slot{time: now, form: t.form}
	if w.log != nil {
		w.tokens[i] = t
	}
	r.come++
	if r.hand == awaiting {
		r.hand = elsewhere
		w.wake(&w.ranks[r.to])
	}
}

// recv takes the next token of a ring; a payload of several slots is assembled, slot by slot. It
// returns false while there is none.
func (w *follow) recv(f *follower, o *op) bool {
	id := w.ports[f.rx+uint32(o.port)]
	r := &w.rings[id]
	if !f.begun {
		f.from, f.part = f.clock, 0
		w.letGo(f, id)
	}
	for {
		if r.come == r.taken {
			if id != noRing {
				r.hand = awaiting
			}
			return f.waits(forToken, o.port)
		}
		at := w.slotOf(id, r.taken)
		s := &w.slots[at]
		w.hear(f, s.time)
		if f.part == 0 {
			f.clock += w.e.spec.Recv
			f.waited = f.clock
			f.got = s.form
		}
		r.taken++
		if !o.more || !w.sameSize(o, f.got) {
			r.hand, s.time = holding, 0
			w.lent(f, o, at)
			break
		}
		form := &w.forms[s.form]
		f.clock += form.tcm[form.last(f.part)]
		if w.log != nil {
			w.assembled(f, o, w.tokens[at], f.part)
		}
		s.time, s.ended = f.clock, true
		w.giveCredits(id)
		if f.part++; f.part == form.parts {
			f.cells[o.dst] = cell{ready: f.clock, slot: -1}
			break
		}
	}
	f.begun = false
	if w.e.opts.Trace != nil {
		w.received(f, o, r)
	}
	if f.got != o.form && (w.ring.Strict || !w.sameSize(o, f.got)) {
		w.failed(f)
		return false
	}
	return true
}

// lent gives the kernel the slot itself.
func (w *follow) lent(f *follower, o *op, slot int32) {
	f.cells[o.dst] = cell{ready: f.clock, slot: slot}
	if w.log != nil {
		f.values[o.dst] = w.as(f, w.tokens[slot], o.form)
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
func (w *follow) letGo(f *follower, id uint32) {
	r := &w.rings[id]
	if r.hand != holding {
		return
	}
	r.hand = elsewhere
	s := &w.slots[w.slotOf(id, r.taken-1)]
	s.time, s.ended = max(s.time, f.clock), true
	w.giveCredits(id)
}

// giveCredits sends the credits of slots that nobody uses any more, in the order of the ring.
func (w *follow) giveCredits(id uint32) {
	r := &w.rings[id]
	for r.given != r.taken {
		s := &w.slots[w.slotOf(id, r.given)]
		if !s.ended || s.reads > 0 {
			return
		}
		r.given++
		r.sent = max(r.sent, s.time)
		at := r.sent + w.manners[r.manner].credit
		if w.e.opts.Trace != nil {
			w.emit(&w.ranks[r.to], trace.Event{
				Kind: trace.Credit, Peer: w.ranks[r.from].pe, Start: r.sent, End: at,
				Bytes: w.ring.CreditBytes, Seq: int64(r.given - 1),
			})
		}
		w.credited(id, at)
	}
}

// credited: the sender of a ring gets a slot back at a time.
func (w *follow) credited(id uint32, at unit.Time) {
	r := &w.rings[id]
	w.rest = max(w.rest, at)
	if x := w.side; x != nil && !x.follows(r.from) {
		x.tell(crossing{ring: id, at: at})
		return
	}
	w.slotBack(id, at)
}

// slotBack: the sender of a ring may use a slot again, from a time on.
func (w *follow) slotBack(id uint32, at unit.Time) {
	r := &w.rings[id]
	w.slots[w.slotOf(id, r.tail)].time = at
	r.tail++
	open := w.streaming(r)
	if open {
		f := &w.ranks[r.from]
		w.pump(f, id, at)
		if open = w.streaming(r); !open && f.wait == forDrain && f.flying == 0 {
			w.wake(f)
		}
	}
	if r.blocked == forCredit || r.blocked == forStream && !open {
		r.blocked = nothing
		w.wake(&w.ranks[r.from])
	}
}
