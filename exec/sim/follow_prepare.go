package sim

import (
	"fmt"

	"kernbench/fault"
	"kernbench/hw/memory"
	"kernbench/pages"
	"kernbench/tl"
	"kernbench/unit"
)

// prepareFollow makes the ranks of a launch and checks that its rings fit.
func (e *Executor) prepareFollow(l *tl.Launch) (*follow, error) {
	w := &follow{
		e: e, net: e.net, q: &e.q, launch: l, log: e.opts.Data, ring: &l.Ring, start: e.Now(), rest: e.Now(), fault: -1,
		ranks: pages.Large(make([]follower, l.World())), left: l.World(),
		made: make([]form, 1, 16), formIndex: map[formKey]uint32{}, wires: make([]wire, 1), busy: map[int32]*recorder{},
		detailed: e.opts.Data != nil || e.opts.Trace != nil,
	}
	if w.log != nil {
		all := make([]held, l.World())
		for i := range all {
			w.ranks[i].held = &all[i]
		}
	}
	if w.detailed {
		w.part.told = new(told)
	}
	ports, id := uint32(0), int32(0)
	base := int32(0)
	for gi := range l.Groups {
		g := &l.Groups[gi]
		for i, pe := range g.PEs {
			if err := e.checkRank(l, g, i); err != nil {
				return nil, err
			}
			outs, ins := uint32(len(g.Wiring[i].Out)), uint32(len(g.Wiring[i].In))
			f := &w.ranks[id]
			f.id, f.index, f.pe, f.group, f.base = id, int32(i), pe, int32(gi), base
			f.clock, f.memory, f.math, f.gemm = w.start, w.start, w.start, w.start
			f.tx, f.rx, f.ins = ports, ports+outs, int32(ins)
			ports += outs + ins
			id++
		}
		base += int32(len(g.PEs))
	}
	w.newRings(ports)
	w.connect()
	return w, nil
}

// newRings makes the rings into which somebody may send, and their slots. All others are noRing.
func (w *follow) newRings(ports uint32) {
	l := w.launch
	rings := 1
	for g := range l.Groups {
		for i := range l.Groups[g].Wiring {
			for _, o := range l.Groups[g].Wiring[i].Out {
				if l.SendsIn(o.Dir) {
					rings++
				}
			}
		}
	}
	w.perRing = newDivisor(uint32(w.ring.Slots))
	w.rings, w.slots, w.ports = pages.Large(make([]ring, rings)), pages.Large(make([]slot, rings*w.ring.Slots)), pages.Large(make([]uint32, ports))
	if w.log != nil {
		w.tokens = make([]token, len(w.slots))
	}
}

// checkRank refuses ranks that the machine cannot have.
func (e *Executor) checkRank(l *tl.Launch, g *tl.Group, i int) error {
	pe, w := int(g.PEs[i]), &g.Wiring[i]
	if pe >= e.m.NumPEs() {
		return fmt.Errorf("rank %d is to run on PE %d: the machine has %d", i, pe, e.m.NumPEs())
	}
	if len(w.In) > laneCredit-laneToken || len(w.Out) > laneCredit-laneToken {
		return fmt.Errorf("rank %d has %d rings: at most %d", i, max(len(w.In), len(w.Out)), laneCredit-laneToken)
	}
	need := unit.Bytes(int64(len(w.In)) * int64(l.Ring.Slots) * l.Ring.SlotBytes)
	if have := memory.RingRoom(e.m, pe, l.Ring.Space, taken(l, pe)); need > have {
		return &fault.RingMemory{Place: e.placeOf(i, pe, "launch", e.Now()), Kind: l.Ring.Space.String(), Need: need, Have: have}
	}
	return nil
}
