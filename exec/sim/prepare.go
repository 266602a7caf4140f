package sim

import (
	"fmt"

	"kernbench/fault"
	"kernbench/hw/ipcq"
	"kernbench/hw/memory"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// prepare makes the ranks of a launch and checks that its rings fit.
func (e *Executor) prepare(l *launch.Launch) (*run, error) {
	x := &run{e: e, launch: l, log: e.opts.Data, history: e.opts.History, ring: &l.Ring, start: e.Now(), tracing: e.tracing()}
	x.startCauses()
	x.ranks = make([]rank, l.World())
	x.expect(len(x.ranks))
	base := int32(0)
	for gi := range l.Groups {
		g := &l.Groups[gi]
		for i := range g.PEs {
			if err := x.prepareRank(g, gi, i, base); err != nil {
				x.stopAll()
				return nil, err
			}
		}
		base += int32(len(g.PEs))
	}
	x.makeRings()
	x.explainRings()
	for i := range x.ranks {
		x.connect(&x.ranks[i])
	}
	return x, nil
}

func (x *run) prepareRank(g *launch.Group, gi, i int, base int32) error {
	e, id := x.e, base+int32(i)
	r := &x.ranks[id]
	w := &g.Wiring[i]
	*r = rank{run: x, id: id, index: int32(i), pe: g.PEs[i], seat: g.PEs[i], source: uint32(g.PEs[i]),
		group: int32(gi), base: base, ringUse: ringUse{any: -1}}
	if err := e.checkRank(x.launch, g, i); err != nil {
		return err
	}
	r.engines, r.component = &r.PE, uint32(e.m.NumLinks())+uint32(r.pe)
	r.Reset(x.start)
	r.began = x.start
	r.tx, r.rx = make([]*ring, len(w.Out)), make([]*ring, len(w.In))
	r.ctx = tl.NewContext(tl.Setup{
		Core: r, Rank: i, World: len(g.PEs), PE: int(r.pe), PEsPerCube: g.PEsPerCube,
		Wiring: w, Ring: x.ring, Addrs: x.launch.Addrs, Scratch: x.launch.Scratch, Watch: x.launch.Watch,
		PEName:      func() string { return e.m.PEName(int(r.pe)) },
		Now:         func() (unit.Time, bool) { return r.Clock, true },
		Edits:       e.opts.Edits,
		RecordLines: e.opts.RecordLines || e.opts.History != nil || e.opts.Causes != nil,
	})
	r.book = x.history.Book(r.ctx, r)
	r.beginCauses(0)
	r.makeBody(x.launch.Kernel, g.Args)
	return nil
}

// taken returns the bytes of a memory that a PE's rings cannot use.
func taken(l *launch.Launch, pe int) unit.Bytes {
	switch {
	case l.Ring.Space == mem.TCM:
		return l.Scratch
	case l.Ring.Space == mem.HBM && l.Tensors != nil:
		return l.Tensors(pe)
	}
	return 0
}

// makeRings makes a ring for each port that a rank sends into.
func (x *run) makeRings() {
	n, total := 0, 0
	x.sizing, x.mostSlots = map[int]*ipcq.Sizing{}, x.ring.Slots
	for i := range x.ranks {
		r := &x.ranks[i]
		n += len(r.tx)
		if !x.ring.Mixed {
			continue
		}
		for _, o := range x.launch.Groups[r.group].Wiring[r.index].Out {
			total += x.ring.SlotsOf(o.Slots)
		}
	}
	if !x.ring.Mixed {
		total = n * x.ring.Slots
	}
	x.rings = make([]ring, n)
	all, tokens := make([]ipcq.Slot, total), make([]ipcq.Token, total)
	n, at := 0, 0
	for i := range x.ranks {
		r := &x.ranks[i]
		for port, o := range x.launch.Groups[r.group].Wiring[r.index].Out {
			q, to, slots := &x.rings[n], &x.ranks[r.base+o.Peer], x.ring.SlotsOf(o.Slots)
			*q = ring{
				from: r.id, to: to.id, out: uint8(port), in: o.PeerIn, sizing: x.sizingOf(slots),
				slots: all[at:][:slots:slots], tokens: tokens[at:][:slots:slots],
			}
			r.tx[port], to.rx[o.PeerIn] = q, q
			n, at = n+1, at+slots
		}
	}
}

// sizingOf returns the Sizing of rings of so many slots.
func (x *run) sizingOf(slots int) *ipcq.Sizing {
	z := x.sizing[slots]
	if z == nil {
		own := ipcq.NewSizing(slots)
		z, x.sizing[slots], x.mostSlots = &own, &own, max(x.mostSlots, slots)
	}
	return z
}

// connect finds the paths of a rank, and of the rings that it sends into.
func (x *run) connect(r *rank) {
	e := x.e
	own, hbm := e.m.PE(int(r.pe)), e.m.HBM(int(r.pe))
	r.fromHBM, r.toHBM = e.route(hbm, own), e.route(own, hbm)
	slots := memory.RingNode(e.m, int(r.pe), x.ring.Space)
	var hops []machine.Hop
	for _, q := range r.tx {
		pe := int(x.ranks[q.to].pe)
		to := memory.RingNode(e.m, pe, x.ring.Space)
		q.source, q.onward, q.fetch = e.route(e.m.TCM(int(r.pe)), to), e.route(slots, to), e.route(to, e.m.PE(pe))
		q.late, _ = x.ring.Protocol.Late(e.m.Between(int(r.pe), pe))
		q.credit, hops = e.creditTime(x.ring, pe, int(r.pe), hops)
	}
}

// checkRank rejects ranks on PEs that the machine lacks, or with too many rings.
func (e *Executor) checkRank(l *launch.Launch, g *launch.Group, i int) error {
	pe, w := int(g.PEs[i]), &g.Wiring[i]
	if pe >= e.m.NumPEs() {
		return fmt.Errorf("rank %d is to run on PE %d: the machine has %d", i, pe, e.m.NumPEs())
	}
	if len(w.In) > seqCredit-seqToken || len(w.Out) > seqCredit-seqToken {
		return fmt.Errorf("rank %d has %d rings: at most %d", i, max(len(w.In), len(w.Out)), seqCredit-seqToken)
	}
	slots := int64(len(w.In)) * int64(l.Ring.Slots)
	if l.Ring.Mixed {
		slots = 0
		for _, p := range w.In {
			slots += int64(l.Ring.SlotsOf(p.Slots))
		}
	}
	need := unit.Bytes(slots * l.Ring.SlotBytes)
	if have := memory.RingRoom(e.m, pe, l.Ring.Space, taken(l, pe)); need > have {
		return &fault.RingMemory{Place: e.placeOf(i, pe, "launch", e.Now()), Kind: l.Ring.Space.String(), Need: need, Have: have}
	}
	return nil
}

// creditTime returns the time of a credit: the latency of the path, its bytes over the slowest
// link, and the delay until it is seen. It uses hops as scratch memory.
func (e *Executor) creditTime(ring *tl.Ring, from, to int, hops []machine.Hop) (unit.Time, []machine.Hop) {
	hops = e.m.Route(hops[:0], e.m.PE(from), e.m.PE(to))
	head, slowest := e.m.Latency(hops)
	_, seen := ring.Protocol.Late(e.m.Between(from, to))
	if slowest > 0 {
		seen += slowest.Time(ring.CreditBytes)
	}
	return head + seen, hops
}
