package sim

import (
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/tl"
	"kernbench/trace"
	"kernbench/unit"
)

// step takes a rank on until it needs what is not known yet, or its kernel ends.
func (w *follow) step(f *follower) {
	spec := &w.e.spec
	for {
		if int(f.at) == len(f.ops) && !w.record(f) {
			return
		}
		o := &f.ops[f.at]
		if !f.begun {
			switch o.kind {
			case opDrop:
				w.release(&f.values[o.a])
				f.at++
				continue
			case opEnd:
				for i := range uint32(f.ins) {
					w.letGo(f, w.ports[f.rx+i])
				}
			case opFault:
				w.failed(f)
				return
			default:
				f.clock += spec.Issue
			}
		}
		switch o.kind {
		case opLoad:
			w.load(f, o)
		case opStore:
			w.store(f, o)
		case opMath:
			w.compute(f, o, &f.math, trace.Math)
		case opGemm:
			w.compute(f, o, &f.gemm, trace.Gemm)
		case opSend, opSendRef:
			if !w.send(f, o) {
				return
			}
		case opRecv:
			if !w.recv(f, o) {
				return
			}
		case opEnd:
			w.end(f)
			return
		}
		f.at++
	}
}

// waits says what a rank waits for before it can go on with the op at hand.
func (f *follower) waits(for_ waiting, port uint8) bool {
	f.begun, f.wait, f.port = true, for_, port
	return false
}

// end completes a kernel, when all that it sends has been accepted and has left.
func (w *follow) end(f *follower) {
	if f.flying > 0 || !w.still && f.unsent > 0 {
		f.waits(forDrain, 0)
		return
	}
	end := max(f.clock, f.last)
	w.result.End = max(w.result.End, end)
	if w.e.opts.Trace != nil {
		w.emit(f, trace.Event{Kind: trace.Kernel, Peer: -1, Start: w.start, End: end})
	}
	f.clock, f.done = end, true
	w.left--
}

// failed notes that the kernel of a rank is at fault now. The fault that counts is the first in
// simulated time, whatever order kernels were followed in.
func (w *follow) failed(f *follower) {
	f.done = true
	w.left--
	if w.fault < 0 || f.clock < w.at || f.clock == w.at && f.id < w.fault {
		w.fault, w.at = f.id, f.clock
	}
}

// enqueue waits for room in the queue of the DMA.
func (w *follow) enqueue(f *follower) {
	if len(f.dma) < w.e.spec.DMA.Depth {
		return
	}
	if f.dma[0] > f.clock {
		f.clock, f.seen = f.dma[0], f.dma[0]
	}
	f.leave()
}

// leave takes out of the queue of the DMA what has left it by now: the first, and others.
func (f *follower) leave() {
	gone := 1
	for gone < len(f.dma) && f.dma[gone] <= f.clock {
		gone++
	}
	f.dma = f.dma[:copy(f.dma, f.dma[gone:])]
}

// book books an access to the rank's own memory, which its kernel starts now: its bytes have
// left their source at departed, and it is complete at done.
func (w *follow) book(f *follower, takes unit.Time) (departed, done unit.Time) {
	hbm := w.e.hbm
	at := f.clock + w.e.spec.DMA.Setup
	if w.e.opts.Fidelity == noc.Ideal {
		departed = at + takes
		f.memory = max(f.memory, departed+hbm.Router+hbm.Wire)
		done = f.memory
	} else {
		f.memory = max(f.memory, at) + takes
		departed, done = f.memory, f.memory+hbm.Router+hbm.Wire
	}
	f.last, w.rest = max(f.last, done), max(w.rest, done)
	if len(f.dma) == cap(f.dma) && len(f.dma) > 0 && f.dma[0] <= f.clock {
		f.leave() // rather than need more memory
	}
	i := len(f.dma)
	f.dma = append(f.dma, departed)
	for ; i > 0 && f.dma[i-1] > departed; i-- {
		f.dma[i] = f.dma[i-1]
	}
	f.dma[i] = departed
	return departed, done
}

func (w *follow) load(f *follower, o *op) {
	w.enqueue(f)
	_, done := w.book(f, o.time)
	c := &f.cells[o.dst]
	ready := done
	if o.more {
		ready = max(ready, c.ready)
	}
	*c = cell{ready: ready, slot: -1, local: true}
	if w.detailed {
		w.loaded(f, done)
	}
}

func (w *follow) store(f *follower, o *op) {
	w.operand(f, o.a)
	w.enqueue(f)
	departed, done := w.book(f, o.time)
	w.read(f, o.a, departed)
	if w.detailed {
		w.stored(f, o, done)
	}
}

// compute lets an engine, which is free at a time, work on what the op names.
func (w *follow) compute(f *follower, o *op, free *unit.Time, k trace.Kind) {
	w.operand(f, o.a)
	w.operand(f, o.b)
	w.operand(f, o.c)
	start := max(f.clock, *free)
	end := start + o.time
	*free = end
	w.read(f, o.a, end)
	w.read(f, o.b, end)
	w.read(f, o.c, end)
	f.last = max(f.last, end)
	f.cells[o.dst] = cell{ready: end, slot: -1}
	if w.detailed {
		w.computed(f, o, start, end, k)
	}
}

// operand waits until a tensor is there.
func (w *follow) operand(f *follower, i int32) {
	if i == tl.None {
		return
	}
	c := &f.cells[i]
	if c.ready <= f.clock {
		return
	}
	from := f.clock
	f.clock = c.ready
	if c.local {
		f.seen = f.clock
	}
	if w.e.opts.Trace != nil {
		w.emit(f, trace.Event{Kind: trace.Wait, Peer: -1, Start: from, End: f.clock, Stalled: f.clock - from})
	}
}

// read notes that an engine reads a tensor until end.
func (w *follow) read(f *follower, i int32, end unit.Time) {
	if i == tl.None {
		return
	}
	if c := &f.cells[i]; c.slot >= 0 {
		s := &w.slots[c.slot]
		s.time = max(s.time, end)
	}
}

// hear moves the clock to when the rank sees what comes at a time.
func (w *follow) hear(f *follower, at unit.Time) {
	if at > f.clock {
		f.seen = at
		f.clock = ipcq.Wake(w.ring, f.clock, at)
	}
}
