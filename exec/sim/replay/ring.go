package replay

import (
	"kernbench/hw/dma"
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/unit"
)

// ring is a ring into which some rank sends. It fills a cache line, and has no pointer in it.
type ring struct {
	ipcq.Ring              // Tag is its timing
	route     noc.Reserved // from TCM to TCM
	from, to  int32        // ranks
	stream    uint32       // in Replay.streams, once it has had a payload of several tokens
	out       uint8        // port of the sender
	state     uint8
}

// Flags of ring.state.
const (
	ownLinks    uint8 = 1 << iota // no other traffic uses the links of its route
	wantsCredit                   // the sender waits for a slot
	wantsStream                   // the sender waits for the payload before to be accepted
	wantsToken                    // the receiver waits for a token
)

// unused is the number of the ring of a port at which no rank sends.
const unused = 0

// stream is the latest payload of a ring that took several tokens.
type stream struct {
	ipcq.Stream
	payload  uint32
	slot     int32     // in Replay.slots that the source lies in, or none
	accepted unit.Time // when its latest token was
}

// slotsOf returns the slots of a ring.
func (x *Replay) slotsOf(id uint32) []ipcq.Slot {
	n := x.sizing.Slots()
	return x.slots[id*n : id*n+n : id*n+n]
}

// arrivedAt moves the clock to the time at which the rank sees an arrival.
func (x *Replay) arrivedAt(f *rank, at unit.Time) {
	if at > f.clock {
		f.clock = ipcq.Wake(&x.in.Launch.Ring, f.clock, at)
	}
}

// sendStep puts a payload into a ring: its first token when a slot is free, the rest as slots
// become free, while the program continues. It returns false while no slot is free.
func (x *Replay) sendStep(f *rank, s *step) bool {
	id := x.ports[f.tx+uint32(s.port)]
	r := &x.rings[id]
	if f.phase != accepted {
		if f.phase == fresh {
			f.clock += x.issue
			x.noteIssue(f)
			if s.kind == stepSend {
				x.operand(f, s.a)
			} else {
				x.stage(f, s)
			}
			x.noteWaited(f)
		}
		if r.stream != 0 {
			p := &x.streams[r.stream]
			if p.Open() {
				r.state |= wantsStream
				return f.waits(forStream, s.port, issued)
			}
			if p.accepted > f.clock && !r.Full(&x.sizing) {
				x.arrivedAt(f, p.accepted)
			}
		}
		if r.Full(&x.sizing) {
			r.state |= wantsCredit
			return f.waits(forCredit, s.port, issued)
		}
		x.arrivedAt(f, r.FreeSince(x.slotsOf(id), &x.sizing))
		f.clock += x.send
	}
	if x.limited && !x.enterQueue(f, s.port) {
		return false
	}
	f.phase = fresh
	slot := none
	if s.kind == stepSend && s.a >= 0 {
		slot = f.tensors[s.a].slot
	}
	seq := r.Sent
	parts := x.payloads[s.payload].parts
	if slot >= 0 {
		x.slots[slot].BeginRead(int(parts))
	}
	if parts > 1 {
		f.unsent++
		if r.stream == 0 {
			r.stream = uint32(len(x.streams))
			x.streams = append(x.streams, stream{})
		}
		p := &x.streams[r.stream]
		*p = stream{Stream: ipcq.Stream{Parts: parts, NotBefore: f.clock}, payload: s.payload, slot: slot, accepted: p.accepted}
		x.pump(f, id, f.clock)
	} else {
		x.token(f, id, s.payload, 0, slot, f.clock)
	}
	if x.traced {
		x.traceSend(f, s, r, seq)
	}
	return true
}

// stage brings the source of a send from memory into the PE. So the message has the contents at the
// call, however long it takes to leave.
func (x *Replay) stage(f *rank, s *step) {
	x.enqueue(f)
	_, done := x.book(f, s.time)
	f.clock = max(f.clock, done)
}

// pump sends the rest of a ring's stream while slots are free. The first part is accepted with the
// send, the others when their slots are back.
func (x *Replay) pump(f *rank, id uint32, at unit.Time) {
	r := &x.rings[id]
	p := &x.streams[r.stream]
	for p.Open() && !r.Full(&x.sizing) {
		if p.Next > 0 {
			at = max(at, r.FreeSince(x.slotsOf(id), &x.sizing))
			p.accepted = at
		}
		part := p.Next
		if p.Next++; !p.Open() {
			f.unsent--
		}
		x.token(f, id, p.payload, part, p.slot, max(at, p.NotBefore))
	}
}

// token sends a part of a payload, which has a slot.
func (x *Replay) token(f *rank, id, typeID uint32, part, slot int32, at unit.Time) {
	r, payload := &x.rings[id], &x.payloads[typeID]
	seq, last := r.Sent, payload.last(part)
	r.Sent++
	x.result.Messages++
	x.result.Bytes += payload.bytes[last]
	if r.state&ownLinks == 0 {
		x.launch(f, id, wire{payload: typeID, ring: id, slot: slot, seq: seq, at: at, last: last}, payload.wire[last])
		return
	}
	departed, delivered := x.exclusive.Pass(&r.route.State, r.Tag, payload.wire[last], at+x.setup)
	if x.limited {
		f.dma.Pass(dma.Collective, at, departed)
	}
	f.last = max(f.last, departed)
	if slot >= 0 {
		x.endRead(slot, departed)
	}
	x.arrive(id, typeID, seq, last, at, delivered)
}

// endRead completes a read of a slot.
func (x *Replay) endRead(slot int32, end unit.Time) {
	x.slots[slot].EndRead(end)
	x.giveCredits(uint32(slot) / x.sizing.Slots())
}

// arrive: a token of a ring arrives, now or at a time to come.
func (x *Replay) arrive(id, typeID, seq uint32, last int, sent, at unit.Time) {
	r, payload := &x.rings[id], &x.payloads[typeID]
	at += x.timings[r.Tag].late + payload.late[last]
	if x.traced {
		x.traceMessage(r, seq, payload.bytes[last], sent, at)
	}
	x.rest = max(x.rest, at)
	slots := x.slotsOf(id)
	slots[x.sizing.Slot(seq)].Tag = typeID
	r.Arrive(slots, &x.sizing, seq, at)
	if r.state&wantsToken != 0 {
		r.state &^= wantsToken
		x.wake(&x.ranks[r.to])
	}
}

// recvStep takes the next token of a ring; a payload of several slots is assembled, slot by slot.
// It returns false while no token has arrived.
func (x *Replay) recvStep(f *rank, s *step) bool {
	id := x.ports[f.rx+uint32(s.port)]
	r := &x.rings[id]
	if f.phase == fresh {
		f.clock += x.issue
		x.noteIssue(f)
		f.part = 0
		x.releaseSlot(f, id)
	}
	for {
		if r.Visible == r.Taken {
			if id != unused {
				r.state |= wantsToken
			}
			return f.waits(forToken, s.port, issued)
		}
		slots := x.slotsOf(id)
		slot := &slots[x.sizing.Slot(r.Taken)]
		x.arrivedAt(f, slot.Time)
		if f.part == 0 {
			f.clock += x.recv
			x.noteWaited(f)
			if slot.Tag != s.payload && !x.agrees(slot.Tag, s) {
				x.irregular = true
				return false
			}
		}
		at := r.Take(slots, &x.sizing)
		if !s.more {
			f.tensors[s.dst] = tensor{ready: f.clock, slot: int32(id*x.sizing.Slots() + at)}
			break
		}
		payload := &x.payloads[slot.Tag]
		f.clock += payload.tcm[payload.last(f.part)]
		slot.Release(f.clock)
		x.giveCredits(id)
		if f.part++; f.part == payload.parts {
			f.tensors[s.dst] = tensor{ready: f.clock, slot: none}
			break
		}
	}
	f.phase = fresh
	if x.traced {
		x.traceRecv(f, s, r)
	}
	return true
}

// agrees reports whether a receive may take a payload whose type or shape differs from its own.
func (x *Replay) agrees(got uint32, s *step) bool {
	return !x.in.Launch.Ring.Strict && x.payloads[got].same == x.payloads[s.payload].same
}

// releaseSlot ends the rank's use of the slot that a ring lent it last.
func (x *Replay) releaseSlot(f *rank, id uint32) {
	if x.rings[id].EndUse(x.slotsOf(id), &x.sizing, f.clock) {
		x.giveCredits(id)
	}
}

// giveCredits sends the credits of slots that are no longer in use, in the order of the ring.
func (x *Replay) giveCredits(id uint32) {
	r, slots := &x.rings[id], x.slotsOf(id)
	for {
		left, ok := r.Credit(slots, &x.sizing)
		if !ok {
			return
		}
		at := left + x.timings[r.Tag].credit
		if x.traced {
			x.traceCredit(r, left, at)
		}
		x.rest = max(x.rest, at)
		x.credited(id, at)
	}
}

// credited: the sender of a ring may use a slot again, from a time on.
func (x *Replay) credited(id uint32, at unit.Time) {
	r := &x.rings[id]
	r.Return(x.slotsOf(id), &x.sizing, at)
	open := false
	if r.stream != 0 && x.streams[r.stream].Open() {
		f := &x.ranks[r.from]
		x.pump(f, id, at)
		if open = x.streams[r.stream].Open(); !open && f.wait == forDrain && f.inFlight == 0 {
			x.wake(f)
		}
	}
	if r.state&wantsCredit != 0 || r.state&wantsStream != 0 && !open {
		r.state &^= wantsCredit | wantsStream
		x.wake(&x.ranks[r.from])
	}
}
