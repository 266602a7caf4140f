package mock

import (
	"kernbench/dtype"
	"kernbench/hw/ipcq"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// payload holds what one Send carries: n elements of a value that never changes.
type payload struct {
	value tl.Value
	off   int32
	n     int
	typ   dtype.Type
	shape tl.Shape

	op   uint64 // in the account of memory
	line string
}

// message is the part of a payload that one slot holds. Each holds a reference of its
// own to the payload's value.
type message struct {
	payload
	lo, len int // elements of the payload
}

func (m *message) last() bool { return m.lo+m.len == m.n }

// ring carries messages from one rank to another.
type ring struct {
	ipcq.Ring // Tag is its number in the account of memory
	sizing    ipcq.Sizing
	slots     []ipcq.Slot
	messages  []message // by slot
	cfg       *tl.Ring
	log       *oplog.Log
	from, to  *rank

	// The rest of the payload that is being sent: parts follow as credits arrive.
	pending payload
	stream  ipcq.Stream

	sent, bytes int64 // messages, and their data
}

func newRing(cfg *tl.Ring, slots int, log *oplog.Log, from, to *rank) *ring {
	return &ring{
		sizing: ipcq.NewSizing(slots), slots: make([]ipcq.Slot, slots), messages: make([]message, slots),
		cfg: cfg, log: log, from: from, to: to,
	}
}

// blocked reports whether the ring cannot accept another payload.
func (r *ring) blocked() bool { return r.stream.Open() || r.Full(&r.sizing) }

// send starts a payload, and takes over its reference. The ring must be able to accept the first
// part.
func (r *ring) send(p payload) {
	r.pending, r.stream = p, ipcq.Stream{Parts: int32(r.cfg.Parts(p.n, p.typ))}
	r.pump()
}

// pump accepts parts of the pending payload while there are slots.
func (r *ring) pump() {
	for r.stream.Open() && !r.Full(&r.sizing) {
		p, per := &r.pending, r.cfg.SlotElems(r.pending.typ)
		lo := int(r.stream.Next) * per
		m := message{payload: *p, lo: lo, len: min(per, p.n-lo)}
		r.stream.Next++
		if r.from.run.history != nil {
			r.accountSend(p)
		}
		number := r.Sent
		r.Sent++
		r.messages[r.sizing.Slot(number)] = m
		r.Arrive(r.slots, &r.sizing, number, 0)
		r.sent++
		r.bytes += int64(m.len) * int64(p.typ.Size())
		if !m.last() && r.log != nil {
			r.log.Retain(p.value) // the reference of the payload goes with its last part
		}
		r.to.run.wake(r.to)
	}
	if !r.stream.Open() {
		r.from.run.wake(r.from)
	}
}

// peek returns the message at the head of the ring, which must have one.
func (r *ring) peek() *message { return &r.messages[r.sizing.Slot(r.Taken)] }

// take removes it, with its reference; the slot stays occupied until its lifetime ends.
func (r *ring) take() message {
	if r.to.run.history != nil {
		r.accountRecv()
	}
	return r.messages[r.Take(r.slots, &r.sizing)]
}

// releaseSlot ends the lifetime of the message that the receiver holds, if any, and gives slots
// back to the sender.
func (r *ring) releaseSlot() {
	if !r.EndUse(r.slots, &r.sizing, 0) {
		return
	}
	for {
		if _, ok := r.Credit(r.slots, &r.sizing); !ok {
			return
		}
		if r.to.run.history != nil {
			r.accountCredit()
		}
		r.Return(r.slots, &r.sizing, 0)
		r.from.run.wake(r.from)
		r.pump()
	}
}

// clear drops the references of messages that were not received.
func (r *ring) clear() {
	if r.log == nil {
		return
	}
	for n := r.Taken; n != r.Visible; n++ {
		r.log.Release(r.messages[r.sizing.Slot(n)].value)
	}
	if r.stream.Open() {
		r.log.Release(r.pending.value)
		r.stream = ipcq.Stream{}
	}
}
