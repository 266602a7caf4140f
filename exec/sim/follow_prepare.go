package sim

import (
	"fmt"

	"kernbench/fault"
	"kernbench/hw/memory"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/tl"
	"kernbench/unit"
)

// prepareFollow makes the ranks of a launch and checks that its rings fit.
func (e *Executor) prepareFollow(l *tl.Launch) (*follow, error) {
	w := &follow{
		e: e, launch: l, log: e.opts.Data, ring: &l.Ring, start: e.Now(), rest: e.Now(), fault: -1,
		ranks: make([]follower, l.World()), left: l.World(), traffic: make([]tl.Traffic, l.World()),
		made: make([]form, 1, 16), formIndex: map[formKey]uint32{}, wires: make([]wire, 1), busy: map[int32]*recorder{},
		detailed: e.opts.Data != nil || e.opts.Trace != nil,
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
			w.ranks[id] = follower{
				id: id, index: int32(i), pe: pe, group: int32(gi), base: base,
				clock: w.start, memory: w.start, math: w.start, gemm: w.start,
				tx: ports, rx: ports + outs, ins: int32(ins),
			}
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
	w.rings, w.slots, w.ports = make([]ring, rings), make([]slot, rings*w.ring.Slots), make([]uint32, ports)
	if w.log != nil {
		w.tokens = make([]token, len(w.slots))
	}
}

// connect leads rings from rank to rank, and finds their ways. Those of a receiver lie side by side.
func (w *follow) connect() {
	e, l := w.e, w.launch
	id := uint32(noRing)
	alike := e.m.Alike()
	uses := make([]noc.Use, len(w.rings)-1)
	for i := range w.ranks {
		f := &w.ranks[i]
		g := &l.Groups[f.group]
		for k, p := range g.Wiring[f.index].In {
			from := &w.ranks[f.base+p.Peer]
			like := w.mannerOf(alike, from, f)
			if l.Sends != nil && !l.SendsIn(g.Wiring[p.Peer].Out[p.PeerOut].Dir) {
				continue
			}
			id++
			w.rings[id] = ring{from: from.id, to: f.id, out: p.PeerOut, manner: like}
			w.ports[from.tx+uint32(p.PeerOut)], w.ports[f.rx+uint32(k)] = id, id
			uses[id-1] = noc.Use{From: e.m.TCM(int(from.pe)), To: e.m.TCM(int(f.pe)), Like: like, Side: w.sideOf(from.id)}
		}
	}
	largest := w.ring.Protocol.Wire(w.ring.SlotBytes)
	e.net.Isolate(uses, noc.Load{Bytes: int64(w.ring.Slots) * largest, Largest: largest, Lead: w.lead()})
	w.private = true
	for i := range uses {
		r := &w.rings[i+1]
		r.own, r.private = uses[i].Private, uses[i].Alone
		w.private = w.private && r.private
	}
}

// mannerOf is the manner of rings from one rank to another. Each side that may follow the sender has its own.
func (w *follow) mannerOf(alike *machine.Alike, from, to *follower) uint32 {
	n := 2 * alike.Number(int(from.pe), int(to.pe))
	if int(n) == len(w.manners) {
		late, _ := w.ring.Protocol.Late(w.e.m.Between(int(from.pe), int(to.pe)))
		m := manner{late: late, credit: w.e.creditTime(w.ring, int(to.pe), int(from.pe))}
		w.manners = append(w.manners, m, m)
	}
	return n + uint32(w.sideOf(from.id))
}

// lead is from what happens on the fabric to what is sent because of it: a send after a receive,
// or what waited for a credit.
func (w *follow) lead() unit.Time {
	spec := &w.e.spec
	least := spec.Issue + spec.Send
	for i := range w.manners {
		least = min(least, w.manners[i].credit)
	}
	return least + spec.DMA.Setup
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
