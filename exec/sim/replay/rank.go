package replay

import (
	"kernbench/hw/dma"
	"kernbench/hw/pe"
	"kernbench/unit"
)

// none is the slot of a tensor that lies in no ring.
const none int32 = -1

// rank is one rank of a launch. Fields that every step uses come first.
type rank struct {
	steps    []step
	at       int32 // in steps
	wait     waiting
	port     uint8 // port at which it waits
	phase    phase // of the step at hand
	done     bool
	clock    unit.Time
	memory   unit.Time // when the memory's port is free; at fidelity ideal, when the latest access is complete
	last     unit.Time // when the last of its own transfers, and of its arithmetic, is complete
	tensors  []tensor
	units    [pe.MostUnits]unit.Time // when each is free
	tx, rx   uint32                  // first in Replay.ports
	ins      int32                   // rings that it receives from
	part     int32                   // of the payload that is being assembled
	inFlight int32                   // tokens on shared links that have not left
	unsent   int32                   // rings with a payload of which parts have no slot yet
	wakes    uint32                  // posted
	dma      dma.Engine

	id          int32 // in Replay.ranks
	index, pe   int32
	group, base int32
}

// tensor is the state of a tensor.
type tensor struct {
	ready unit.Time
	slot  int32 // in Replay.slots that it lies in, or none
}

// waiting is the event that a rank waits for.
type waiting uint8

const (
	nothing   waiting = iota
	forToken          // in the ring of a port
	forCredit         // of the ring of a port
	forStream         // the payload before it to be accepted whole
	forDMA            // space in the queue of messages
	forDrain          // what it has sent to be accepted, and to have left
)

// phase is the progress of a rank within a step.
type phase uint8

const (
	fresh    phase = iota
	issued         // it waits for another rank
	accepted       // a send: it has a slot, and waits for space in the DMA queue
)

// waits suspends the current step. It returns false for its caller to return.
func (f *rank) waits(what waiting, port uint8, p phase) bool {
	f.wait, f.port, f.phase = what, port, p
	return false
}

// step advances a rank until it needs a time that is unknown, or its program ends.
func (x *Replay) step(f *rank) {
	for {
		s := &f.steps[f.at]
		switch s.kind {
		case stepLoad:
			f.clock += x.issue
			x.load(f, s)
		case stepStore:
			f.clock += x.issue
			x.store(f, s)
		case stepCompute:
			f.clock += x.issue
			x.compute(f, s)
		case stepSend, stepSendRef:
			if !x.sendStep(f, s) {
				return
			}
		case stepRecv:
			if !x.recvStep(f, s) {
				return
			}
		case stepPost:
			f.clock += x.issue
		case stepMore:
			if x.record(f); x.irregular {
				return
			}
			continue
		default:
			x.end(f)
			return
		}
		f.at++
	}
}

// end completes a program, when all that it sends has been accepted and has left.
func (x *Replay) end(f *rank) {
	if f.phase == fresh {
		for i := range uint32(f.ins) {
			x.releaseSlot(f, x.ports[f.rx+i])
		}
	}
	if f.inFlight > 0 || f.unsent > 0 {
		f.waits(forDrain, 0, issued)
		return
	}
	end := max(f.clock, f.last)
	x.result.End = max(x.result.End, end)
	if x.traced {
		x.traceKernel(f, end)
	}
	f.clock, f.done = end, true
	x.left--
}

// enqueue waits for space in the DMA queue of loads and stores.
func (x *Replay) enqueue(f *rank) {
	for spec := &x.in.Spec.DMA; f.dma.Full(spec, dma.Compute, f.clock); {
		f.clock, _ = f.dma.NextLeaves(dma.Compute)
	}
}

// book books an access to the rank's own memory, which starts now. Its bytes have left their source
// at departed, and it is complete at done.
func (x *Replay) book(f *rank, takes unit.Time) (departed, done unit.Time) {
	at := f.clock + x.setup
	if x.in.Ideal {
		departed = at + takes
		f.memory = max(f.memory, departed+x.hbmLatency)
		done = f.memory
	} else {
		f.memory = max(f.memory, at) + takes
		departed, done = f.memory, f.memory+x.hbmLatency
	}
	f.last, x.rest = max(f.last, done), max(x.rest, done)
	f.dma.Pass(dma.Compute, f.clock, departed)
	return departed, done
}

func (x *Replay) load(f *rank, s *step) {
	x.enqueue(f)
	_, done := x.book(f, s.time)
	if x.traced {
		x.traceAccess(f, s, done)
	}
	f.tensors[s.dst] = tensor{ready: done, slot: none} // pieces come in their order
}

func (x *Replay) store(f *rank, s *step) {
	x.operand(f, s.a)
	x.enqueue(f)
	departed, done := x.book(f, s.time)
	x.read(f, s.a, departed)
	if x.traced {
		x.traceAccess(f, s, done)
	}
}

// compute lets an engine work on the operands.
func (x *Replay) compute(f *rank, s *step) {
	x.operand(f, s.a)
	x.operand(f, s.b)
	x.operand(f, s.c)
	free := &f.units[s.unit]
	start := max(f.clock, *free)
	end := start + s.time
	*free = end
	x.read(f, s.a, end)
	x.read(f, s.b, end)
	x.read(f, s.c, end)
	f.last = max(f.last, end)
	f.tensors[s.dst] = tensor{ready: end, slot: none}
	if x.traced {
		x.traceCompute(f, s, start, end)
	}
}

// operand waits until a tensor is there.
func (x *Replay) operand(f *rank, i int32) {
	if i < 0 || f.tensors[i].ready <= f.clock {
		return
	}
	from := f.clock
	f.clock = f.tensors[i].ready
	if x.traced {
		x.traceWait(f, from)
	}
}

// read notes that an engine reads a tensor until end.
func (x *Replay) read(f *rank, i int32, end unit.Time) {
	if i < 0 {
		return
	}
	if slot := f.tensors[i].slot; slot >= 0 {
		x.slots[slot].Read(end)
	}
}
