package replay

import (
	"kernbench/des"
	"kernbench/hw/dma"
	"kernbench/hw/noc"
	"kernbench/unit"
)

// wire is a token on a route that shares links.
type wire struct {
	payload uint32
	ring    uint32
	slot    int32 // slot that is read, or none
	seq     uint32
	next    uint32 // in the list of unused ones
	at      unit.Time
	last    int // 1 for the last part of a payload, as payload.last has it
}

// carriers are the tokens on routes that share links.
type carriers struct {
	wires []wire
	idle  uint32 // list of unused ones; 0: none
}

// launch gives a token to the fabric.
func (x *Replay) launch(f *rank, id uint32, w wire, size int64) {
	i := x.idle
	if i != 0 {
		x.idle = x.wires[i].next
		x.wires[i] = w
	} else {
		i = uint32(len(x.wires))
		x.wires = append(x.wires, w)
	}
	r := &x.rings[id]
	f.inFlight++
	if x.limited {
		f.dma.Enter(dma.Collective)
	}
	x.in.Net.Send(w.at+x.setup, noc.Transfer{
		Route: r.route.Route(), Class: noc.Collective, Bytes: size, Source: uint32(f.pe), User: i,
		Ordered: x.payloads[w.payload].parts == 1 && f.unsent == 0 && x.issue+x.send > 0,
	}, des.MakeKey(des.Arrive, uint32(x.in.Machine.NumLinks())+uint32(f.pe), SeqToken+r.out, w.seq))
}

// Departed: a token has been read; its slot may go, and its DMA queue has space from end on.
func (x *Replay) Departed(user uint32, end unit.Time) {
	w := &x.wires[user]
	f := &x.ranks[x.rings[w.ring].from]
	f.inFlight--
	f.last = max(f.last, end)
	if x.limited {
		f.dma.Leave(dma.Collective, x.in.Queue.Now(), end)
		if f.wait == forDMA {
			x.wakeAt(f, end)
		}
	}
	if f.inFlight == 0 && f.wait == forDrain {
		x.wake(f)
	}
	if slot := w.slot; slot >= 0 {
		x.endRead(slot, end)
	}
}

// Taken is for data, which a replay does not move.
func (x *Replay) Taken(uint32) {}

// Delivered: a token has arrived whole.
func (x *Replay) Delivered(user uint32, now unit.Time) {
	w := x.wires[user]
	x.wires[user].next, x.idle = x.idle, user
	x.arrive(w.ring, w.payload, w.seq, w.last, w.at, now)
}

// Sequences of the keys that order the events of one rank at one instant.
const (
	SeqWake  uint8 = 3
	SeqToken uint8 = 16 // plus ring
)

// kindWake is the event at which a rank checks its DMA queue again.
const kindWake = noc.FirstFree

// enterQueue waits for a free place in the DMA queue of messages. It returns false while that is
// unknown, because it depends on the departure of tokens on shared links.
func (x *Replay) enterQueue(f *rank, port uint8) bool {
	spec := &x.in.Spec.DMA
	for f.dma.Full(spec, dma.Collective, f.clock) {
		next, known := f.dma.NextLeaves(dma.Collective)
		switch {
		case !known:
			return f.waits(forDMA, port, accepted) // Departed wakes it
		case f.inFlight > 0:
			x.wakeAt(f, next)
			return f.waits(forDMA, port, accepted)
		}
		f.clock = next
	}
	return true
}

// wakeAt posts an event at which a rank checks again.
func (x *Replay) wakeAt(f *rank, at unit.Time) {
	f.wakes++
	x.in.Queue.Post(des.Event{
		Time: max(at, f.clock), Key: des.MakeKey(des.Settle, uint32(x.in.Machine.NumLinks())+uint32(f.pe), SeqWake, f.wakes),
		Target: noc.Target(kindWake, uint32(f.id)),
	})
}

// woken resumes a rank that waits for its DMA queue.
func (x *Replay) woken(f *rank) {
	if f.wait == forDMA {
		f.clock = max(f.clock, x.in.Queue.Now())
		x.wake(f)
	}
}
