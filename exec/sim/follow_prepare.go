package sim

import (
	"fmt"

	"kernbench/fault"
	"kernbench/hw/memory"
	"kernbench/hw/noc"
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
	outs, ins := 0, 0
	for gi := range l.Groups {
		for i := range l.Groups[gi].PEs {
			wiring := &l.Groups[gi].Wiring[i]
			if err := e.checkRank(l, &l.Groups[gi], i); err != nil {
				return nil, err
			}
			outs, ins = outs+len(wiring.Out), ins+len(wiring.In)
		}
	}
	tx, rx := w.newRings(outs, ins)
	base, id := int32(0), int32(0)
	uses := make([]noc.Use, 0, outs)
	credits, slots := uint32(0), uint32(0)
	for gi := range l.Groups {
		g := &l.Groups[gi]
		for i, pe := range g.PEs {
			wiring := &g.Wiring[i]
			f := &w.ranks[id]
			*f = follower{
				id: id, index: int32(i), pe: pe, group: int32(gi), base: base,
				clock: w.start, memory: w.start, math: w.start, gemm: w.start,
				tx: tx[:len(wiring.Out):len(wiring.Out)], rx: rx[:len(wiring.In):len(wiring.In)],
			}
			tx, rx = tx[len(wiring.Out):], rx[len(wiring.In):]
			for k, o := range wiring.Out {
				peer := g.PEs[o.Peer]
				s := &f.tx[k]
				*s = sender{peer: base + o.Peer, peerIn: o.PeerIn, dir: o.Dir, credits: credits}
				credits += uint32(w.ring.Slots)
				if !l.SendsIn(o.Dir) {
					continue
				}
				s.late, _ = w.ring.Protocol.Late(e.m.Between(int(pe), int(peer)))
				largest := w.ring.Protocol.Wire(w.ring.SlotBytes)
				u := noc.Use{From: e.m.TCM(int(pe)), To: e.m.TCM(int(peer)), Bytes: int64(w.ring.Slots) * largest, Largest: largest}
				if int(id) >= w.half() {
					u.Side = 1
				}
				uses = append(uses, u)
			}
			for k, p := range wiring.In {
				f.rx[k] = receiver{peer: base + p.Peer, peerOut: p.PeerOut, held: -1, slots: slots, credit: e.creditTime(w.ring, int(pe), int(g.PEs[p.Peer]))}
				slots += uint32(w.ring.Slots)
			}
			id++
		}
		base += int32(len(g.PEs))
	}
	e.net.Isolate(uses, w.lead())
	w.private = true
	for i := range w.ranks {
		for k := range w.ranks[i].tx {
			if s := &w.ranks[i].tx[k]; l.SendsIn(s.dir) {
				s.route, s.own, s.private = uses[0].Route, uses[0].Private, uses[0].Alone
				w.private = w.private && s.private
				uses = uses[1:]
			}
		}
	}
	return w, nil
}

// newRings are the ends of all rings, and their slots.
func (w *follow) newRings(outs, ins int) ([]sender, []receiver) {
	w.credits, w.slots = make([]unit.Time, outs*w.ring.Slots), make([]slot, ins*w.ring.Slots)
	if w.log != nil {
		w.tokens = make([]token, len(w.slots))
	}
	return make([]sender, outs), make([]receiver, ins)
}

// lead is from what happens on the fabric to what is sent because of it: a send after a receive,
// or what waited for a credit.
func (w *follow) lead() unit.Time {
	spec := &w.e.spec
	least := spec.Issue + spec.Send
	for i := range w.ranks {
		for k := range w.ranks[i].rx {
			least = min(least, w.ranks[i].rx[k].credit)
		}
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
