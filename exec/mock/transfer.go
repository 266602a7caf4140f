package mock

import (
	"kernbench/record/history"
	"kernbench/record/trace"
	"kernbench/tl"
)

// ringUse holds what a rank has for its rings.
type ringUse struct {
	in, out  []*ring
	served   int      // port that the last undirected receive took from
	carrying tl.Value // of a send or receive in progress, which holds a reference
}

// send puts a tensor, or memory as it is now, into a ring.
func (r *rank) send(in *tl.Instr) {
	p := payload{n: in.N, typ: in.Type, shape: in.Shape}
	if log := r.run.log; log != nil {
		switch {
		case in.A != tl.None:
			cell := tl.DriverOf(r.kernel).Cell(in.A)
			p.value, p.off = cell.Value, cell.Off+in.AOff
			log.Retain(p.value)
		case in.N > 0:
			p.value = log.NewValue()
			log.Load(r.origin(), p.value, 0, in.N, in.N, in.Type, in.Addr)
		}
	}
	if r.run.history != nil {
		if in.A == tl.None {
			r.book.Accessed(history.Load, in.Addr, in.Bytes())
		}
		p.op, p.line = r.run.history.NextOp(), tl.DriverOf(r.kernel).Line()
	}
	r.carrying = p.value
	ring := r.out[in.Port]
	for ring.blocked() {
		r.port = in.Port
		r.park(forSlot)
	}
	r.carrying = 0
	seq := ring.Sent
	ring.send(p)
	if r.run.opts.Trace != nil {
		r.emit(trace.Send, ring.to, r.wiring.Out[in.Port].Dir, in, seq)
	}
}

// emit reports a send or receive that returns.
func (r *rank) emit(k trace.Kind, peer *rank, d tl.Dir, in *tl.Instr, seq uint32) {
	r.run.opts.Trace.Emit(&trace.Event{
		Kind: k, PE: r.pe, Rank: int32(r.index), Peer: peer.pe, Dir: uint8(d), Bytes: in.Bytes(), Seq: int64(seq),
	})
}

// recv takes the next payload of a ring, or of any ring that has one.
func (r *rank) recv(in *tl.Instr) {
	port := r.await(in.Port)
	ring := r.in[port]
	m := ring.peek()
	in.GotPort, in.GotShape, in.GotType, in.GotN = port, m.shape, m.typ, m.n
	if !r.agrees(in) {
		return // the Context reports the fault
	}
	if in.Port == tl.AnyPort {
		r.book.Plain(history.Any)
	}
	seq := ring.Taken
	first := ring.take()
	r.carrying = first.value
	switch {
	case in.Copy:
		r.assemble(port, first)
	case r.run.launch.Ring.OnRecv:
		ring.releaseSlot()
	}
	r.carrying = 0
	r.deliver(in, first.payload)
	if r.run.opts.Trace != nil {
		r.emit(trace.Recv, ring.from, r.wiring.In[port].Dir, in, seq)
	}
	if in.Dst == tl.None {
		r.book.Accessed(history.Store, in.Addr, in.Bytes())
	}
}

// await ends the lifetimes that this receive ends, and waits for a message.
func (r *rank) await(port int) int {
	if port != tl.AnyPort {
		r.in[port].releaseSlot()
		for r.in[port].Waiting() == 0 {
			r.port = port
			r.park(forMessage)
		}
		return port
	}
	for _, q := range r.in {
		q.releaseSlot()
	}
	for {
		for i := range r.in {
			if p := (r.served + 1 + i) % len(r.in); r.in[p].Waiting() > 0 {
				r.served = p
				return p
			}
		}
		r.port = tl.AnyPort
		r.park(forMessage)
	}
}

// agrees reports whether a payload has the type and shape that the kernel expects.
func (r *rank) agrees(in *tl.Instr) bool {
	if r.run.launch.Ring.Strict {
		return in.GotN == in.N && in.GotType == in.Type && in.GotShape == in.Shape
	}
	return in.GotN == in.N && in.GotType.Size() == in.Type.Size()
}

// assemble takes the rest of a payload after its first part, and gives each slot back as its part
// is copied. The parts are consecutive pieces of one value, which is the result.
func (r *rank) assemble(port int, m message) {
	ring := r.in[port]
	ring.releaseSlot()
	for !m.last() {
		for ring.Waiting() == 0 {
			r.port = port
			r.park(forMessage)
		}
		m = ring.take()
		if r.run.log != nil {
			r.run.log.Release(m.value)
		}
		ring.releaseSlot()
	}
}

// deliver puts a received payload, with its reference, where the instruction wants it.
func (r *rank) deliver(in *tl.Instr, p payload) {
	if in.Dst != tl.None {
		cell := tl.DriverOf(r.kernel).Cell(in.Dst)
		cell.InSlot, cell.In = !in.Copy, uint8(in.GotPort)
	}
	log := r.run.log
	if log == nil {
		return
	}
	if p.typ != in.Type && in.N > 0 {
		sent := p.value
		p.value, p.off = log.Cast(r.origin(), sent, p.off, p.typ, in.N, in.Type), 0
		log.Release(sent)
	}
	if in.Dst != tl.None {
		cell := tl.DriverOf(r.kernel).Cell(in.Dst)
		cell.Value, cell.Off = p.value, p.off
		return
	}
	if in.N > 0 {
		log.Store(r.origin(), in.Addr, p.value, p.off, in.N, in.Type)
	}
	log.Release(p.value)
}
