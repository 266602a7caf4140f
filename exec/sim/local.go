package sim

import (
	"kernbench/hw/dma"
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/trace"
	"kernbench/unit"
)

// This file is the short way through a launch that is local (tl.Launch.Local). Its kernels hear
// of each other through rings alone, by receives that name their direction, so that what each
// does, and when, follows from the times at which its tokens and credits come, in whatever order
// kernels are carried out here (a Kahn network). So a token or a credit whose arrival is known is
// handed over at once, with its time, and a kernel goes on until it needs one that is not known
// yet. Events are left for links that several routes share: there global time decides who comes
// first. The memory port of a PE serves that PE alone.
//
// Options that look closer (every instruction stopped, random delays, an account of memory), the
// reference fidelity, and rings outside TCM, take the long way. It gives the same times, traces
// and values; tests hold one against the other.

// goAhead decides which way a launch takes.
func (x *run) goAhead() {
	o, l := &x.e.opts, x.launch
	if !l.Local || o.Yield || o.Seed != 0 || o.History != nil || o.Fidelity == noc.Flit || l.Ring.OnRecv || l.Ring.Space != mem.TCM {
		return
	}
	var uses []noc.Use
	largest := l.Ring.Protocol.Wire(l.Ring.SlotBytes)
	for i := range x.ranks {
		r := &x.ranks[i]
		rings := 0
		for p := range r.tx {
			if !l.SendsIn(r.tx[p].dir) {
				continue
			}
			if rings++; rings*l.Ring.Slots > x.e.spec.DMA.Depth {
				return // a send might wait for others to leave the queue
			}
			uses = append(uses, noc.Use{Route: r.tx[p].source, Bytes: int64(l.Ring.Slots) * largest, Largest: largest})
		}
	}
	x.ahead, x.rest = true, x.start
	x.e.net.Isolate(uses)
	for i := range x.ranks {
		r := &x.ranks[i]
		r.portFree = x.start
		for p := range r.tx {
			if q := &r.tx[p]; l.SendsIn(q.dir) {
				q.own, q.credits = x.e.net.Private(q.source), make([]unit.Time, l.Ring.Slots)
			}
		}
	}
}

// catchUp carries out the next kernel that can go on; false when there is none.
func (x *run) catchUp() bool {
	if x.first == len(x.ready) {
		return false
	}
	r := &x.ranks[x.ready[x.first]]
	if x.first++; x.first == len(x.ready) {
		x.first, x.ready = 0, x.ready[:0]
	}
	x.reached = max(x.reached, r.Clock)
	if x.fault == nil || r.Clock <= x.faultAt.time { // else what it does would come after the end
		x.resume(r)
	}
	return true
}

// wakeUp lets a kernel that is parked go on.
func (x *run) wakeUp(r *rank) {
	r.wait = nothing
	x.ready = append(x.ready, r.id)
}

// seen moves the clock to when the token at the head of a ring is seen. The long way only gets
// here when it has been.
func (r *rank) seen(at unit.Time) {
	if at > r.Clock {
		r.foresaw = at
		r.Clock = ipcq.Wake(r.run.ring, r.Clock, at)
	}
}

// accepted moves the clock to when the next token of a ring can go: when the payload before it
// has been accepted whole, and a credit has come for its slot.
func (r *rank) accepted(q *txPort) {
	r.seen(q.accepted)
	r.seen(q.credit())
}

// credit is when the slot of the next token came back that a ring is known to have.
func (q *txPort) credit() unit.Time { return q.credits[q.MyHead%q.Slots] }

// creditAhead: a ring's sender gets a slot back at a time.
func (x *run) creditAhead(p *rxPort, at unit.Time) {
	r := &x.ranks[p.peer]
	q := &r.tx[p.peerOut]
	x.rest = max(x.rest, at)
	q.credits[q.PeerTailCache%q.Slots] = at
	q.PeerTailCache++
	was := q.Streaming()
	r.pump(int(p.peerOut), at)
	if was && !q.Streaming() {
		if r.wait == forDrain && r.flying == 0 {
			x.wakeUp(r)
		}
	}
	if r.waitPort == int32(p.peerOut) && (r.wait == forCredit || r.wait == forStream && !q.Streaming()) {
		x.wakeUp(r)
	}
}

// carry brings a token over a route that is its own.
func (r *rank) carry(q *txPort, t *transfer) {
	x := r.run
	departed, delivered := x.e.net.Through(q.own, x.ring.Protocol.Wire(t.bytes), t.at+x.e.spec.DMA.Setup)
	r.Last = max(r.Last, departed)
	if t.slot >= 0 {
		r.rx[t.rx].EndRead(t.slot, departed)
		r.giveCredits(int(t.rx))
	}
	x.arrive(r, t, delivered+q.late)
}

// port books the port of the PE's own HBM slice for an access that comes there at a time: its
// bytes have left their source at departed, and it is complete at done.
func (r *rank) port(bytes int64, at unit.Time) (departed, done unit.Time) {
	e := r.run.e
	if e.opts.Fidelity == noc.Ideal {
		departed = at + e.hbm.Serial.Time(bytes)
		r.portFree = max(r.portFree, departed+e.hbm.Router+e.hbm.Wire)
		return departed, r.portFree
	}
	r.portFree = max(r.portFree, at) + e.portTime(bytes)
	return r.portFree, r.portFree + e.hbm.Router + e.hbm.Wire
}

// portTime is what the port of an HBM slice takes for so many bytes, message by message.
func (e *Executor) portTime(bytes int64) unit.Time {
	most := int64(e.topo.Fabric.MessageBytes)
	t := e.hbm.Serial.Time(bytes % most)
	if whole := bytes / most; whole > 0 {
		t += unit.Time(whole) * e.hbm.Serial.Time(most)
	}
	return t
}

// accessAhead books an access of the PE to its own slice, which the kernel starts now.
func (r *rank) accessAhead(bytes int64) (departed, done unit.Time) {
	departed, done = r.port(bytes, r.Clock+r.run.e.spec.DMA.Setup)
	r.engines.DMA.Leave(dma.Compute, r.Clock, departed)
	r.Last, r.run.rest = max(r.Last, done), max(r.run.rest, done)
	return departed, done
}

func (r *rank) loadAhead(in *tl.Instr, c *tl.Cell) {
	start := r.Clock
	_, done := r.accessAhead(in.Bytes())
	c.Ready, c.Local = max(c.Ready, done), true
	if log := r.run.log; log != nil {
		if in.Piece == 0 {
			c.Value = log.NewValue()
		}
		t := r.rows(in, in.DstOff)
		o := r.originAt(done)
		t.eachRow(func(off, n int32, a mem.Addr) { log.Load(o, c.Value, int(off), int(n), in.Shape.Elems(), in.Type, a) })
	}
	r.emitSpan(trace.Load, start, done, in.Bytes())
}

func (r *rank) storeAhead(in *tl.Instr, c *tl.Cell) {
	start := r.Clock
	departed, done := r.accessAhead(in.Bytes())
	if c.InSlot {
		r.rx[c.In].Read(int32(c.Slot), departed)
	}
	if log := r.run.log; log != nil {
		t := r.rows(in, c.Off+in.AOff)
		o := r.originAt(done)
		t.eachRow(func(off, n int32, a mem.Addr) { log.Store(o, a, c.Value, off, int(n), in.Type) })
	}
	r.emitSpan(trace.Store, start, done, in.Bytes())
}

// rows are the stretches of memory of a load or store.
func (r *rank) rows(in *tl.Instr, off int32) transfer {
	return transfer{addr: in.Addr, off: off, n: int32(in.N), rows: int32(in.Rows), pitch: in.Pitch}
}

func (r *rank) stageAhead(t *transfer) {
	_, done := r.accessAhead(t.bytes)
	if log := r.run.log; log != nil {
		log.Load(t.origin(r, done), t.value, int(t.off), int(t.n), int(t.total), t.typ, t.addr)
		log.Release(t.value)
	}
	r.Clock, r.foresaw = max(r.Clock, done), done
}
