package mock

import (
	"kernbench/dtype"
	"kernbench/oplog"
	"kernbench/tl"
)

// payload is what one Send carries: n elements of a value that never changes.
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

// ring carries messages from one rank to another. Positions count slot messages since
// the start of the launch.
type ring struct {
	cfg      *tl.Ring
	log      *oplog.Log
	from, to *rank
	number   uint32 // in the account of memory

	queue []message // accepted and not taken
	room  []message // where an empty queue begins again
	head  int64     // accepted from the sender
	taken int64     // taken by the receiver
	tail  int64     // credits given back

	// What is left of the payload that is being sent: parts follow as credits come.
	pending payload
	sent    int // its elements that are on their way
	busy    bool

	messages, bytes int64
}

func (r *ring) full() bool    { return r.head-r.tail == int64(r.cfg.Slots) }
func (r *ring) waiting() bool { return r.head > r.taken }

// send starts a payload, whose reference it takes. The ring must be able to accept the
// first part.
func (r *ring) send(p payload) {
	r.pending, r.sent, r.busy = p, 0, true
	r.stream()
}

// stream accepts parts of the pending payload while there are slots.
func (r *ring) stream() {
	for r.busy && !r.full() {
		p := &r.pending
		m := message{payload: *p, lo: r.sent, len: min(r.cfg.SlotElems(p.typ), p.n-r.sent)}
		if r.queue = append(r.queue, m); len(r.queue) == 1 {
			r.room = r.queue
		}
		if r.from.run.history != nil {
			r.accountSend(p)
		}
		r.head++
		r.messages++
		r.bytes += int64(m.len) * int64(p.typ.Size())
		r.sent += m.len
		if m.last() {
			r.busy = false // its reference goes with the last part
		} else if r.log != nil {
			r.log.Retain(p.value)
		}
		r.to.run.wake(r.to)
	}
	if !r.busy {
		r.from.run.wake(r.from)
	}
}

// peek is the message at the head of the ring, which must have one.
func (r *ring) peek() *message { return &r.queue[0] }

// take removes it, with its reference; the slot stays occupied until credit.
func (r *ring) take() message {
	m := r.queue[0]
	if r.to.run.history != nil {
		r.accountRecv()
	}
	r.taken++
	if r.queue = r.queue[1:]; len(r.queue) == 0 {
		r.queue = r.room[:0]
	}
	return m
}

// credit gives the oldest slot back to the sender.
func (r *ring) credit() {
	if r.to.run.history != nil {
		r.accountCredit()
	}
	r.tail++
	r.from.run.wake(r.from)
	r.stream()
}

// overwritten tells whether the slot of the message that was taken last has been used
// again.
func (r *ring) overwritten() bool { return r.head >= r.taken+int64(r.cfg.Slots) }

// clear drops the references of whatever was not received.
func (r *ring) clear() {
	if r.log == nil {
		return
	}
	for i := range r.queue {
		r.log.Release(r.queue[i].value)
	}
	if r.busy {
		r.log.Release(r.pending.value)
		r.busy = false
	}
}
