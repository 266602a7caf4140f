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
	x.ranks = make([]rank, l.NumBlocks())
	x.expect(len(x.ranks))
	base := int32(0)
	for gi := range l.Groups {
		g := &l.Groups[gi]
		for i := range g.NumBlocks() {
			if err := x.prepareRank(g, gi, i, base); err != nil {
				x.stopAll()
				return nil, err
			}
		}
		base += int32(g.NumBlocks())
	}
	x.makeRings()
	x.explainRings()
	for i := range x.ranks {
		x.connect(&x.ranks[i])
	}
	return x, nil
}

func (x *run) prepareRank(g *launch.Group, gi, i int, base int32) error {
	id := base + int32(i)
	r := &x.ranks[id]
	w, b := &g.Wiring[i], g.Block(i)
	pe := g.PEs[b.Rank]
	*r = rank{run: x, id: id, index: int32(b.Rank), block: int32(i), pe: pe, seat: pe, source: uint32(pe),
		group: int32(gi), base: base, ringUse: ringUse{lastAny: -1}}
	if err := x.e.checkRank(x.launch, g, i); err != nil {
		return err
	}
	x.takeEngines(r, b)
	r.began = x.start
	r.tx, r.rx = make([]*ring, len(w.Out)), make([]*ring, len(w.In))
	x.begins(r, g.Setup(i, x.launch.Scratch), x.launch.Kernel, g.Args)
	r.beginCauses(0)
	return nil
}

// begins makes the coroutine of a rank, stream, program or task, and completes its setup. The
// caller must resume it.
func (x *run) begins(r *rank, s tl.Setup, k tl.Kernel, a tl.Args) {
	e := x.e
	s.Core, s.PE, s.Ring, s.Addrs, s.Watch, s.Edits = r, int(r.pe), x.ring, x.launch.Addrs, x.launch.Watch, e.opts.Edits
	if s.Wiring == nil {
		s.Wiring = &tl.Wiring{}
	}
	s.PEName = func() string { return e.m.PEName(int(r.pe)) }
	s.Now = func() (unit.Time, bool) { return r.Clock, true }
	s.RecordLines = e.opts.RecordLines || e.opts.History != nil || e.opts.Causes != nil
	r.wiring, r.ctx = s.Wiring, tl.NewContext(s)
	r.book = x.history.Book(r.ctx, r)
	r.makeBody(k, a)
}

// sit places the core of an agent at a PE.
func (r *rank) sit(pe int32) {
	e := r.run.e
	own, hbm := e.m.PE(int(pe)), e.m.HBM(int(pe))
	r.seat, r.fromHBM, r.toHBM = pe, e.route(hbm, own), e.route(own, hbm)
}

// takeEngines gives a rank the engines of its PE. The first block of a rank has them, and the
// others use them too. Further blocks have components beyond those of the PEs.
func (x *run) takeEngines(r *rank, b launch.Block) {
	if b.Of > 1 {
		first := r.id - int32(b.Number)
		r.blocks = x.ranks[first:][:b.Of:b.Of]
	}
	if b.Number > 0 {
		r.engines, r.component = &r.blocks[0].PE, uint32(x.e.m.NumLinks()+x.e.m.NumPEs())+uint32(r.id)
		r.Clock = x.start
		return
	}
	r.engines, r.component = &r.PE, uint32(x.e.m.NumLinks())+uint32(r.pe)
	r.Reset(x.start)
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
		out := x.ranks[i].wiring.Out
		n += len(out)
		for k := range out {
			total += x.ring.SlotsOf(out[k].Slots)
		}
	}
	x.rings = make([]ring, n)
	all, tokens := make([]ipcq.Slot, total), make([]ipcq.Token, total)
	n, at := 0, 0
	for i := range x.ranks {
		r := &x.ranks[i]
		for port, o := range r.wiring.Out {
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

// sizingOf returns the Sizing of rings with a number of slots.
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
	r.sit(r.pe)
	slots := memory.RingNode(e.m, int(r.pe), x.ring.Space)
	var hops []machine.Hop
	for _, q := range r.tx {
		pe := int(x.ranks[q.to].pe)
		to := memory.RingNode(e.m, pe, x.ring.Space)
		q.source, q.fromSlots, q.fetch = e.route(e.m.TCM(int(r.pe)), to), e.route(slots, to), e.route(to, e.m.PE(pe))
		q.late, _ = x.ring.Protocol.Late(e.m.Between(int(r.pe), pe))
		q.credit, hops = e.creditTime(x.ring, pe, int(r.pe), hops)
	}
}

// checkRank rejects a block on a PE that the machine lacks, or with too many rings. It also rejects
// the first block of a rank if the slots of all rings of the rank do not fit.
func (e *Executor) checkRank(l *launch.Launch, g *launch.Group, i int) error {
	b, w := g.Block(i), &g.Wiring[i]
	pe := int(g.PEs[b.Rank])
	if pe >= e.m.NumPEs() {
		return fmt.Errorf("rank %d is to run on PE %d: the machine has %d", b.Rank, pe, e.m.NumPEs())
	}
	if len(w.In) > seqCredit-seqToken || len(w.Out) > seqCredit-seqToken {
		return fmt.Errorf("rank %d has %d rings: at most %d", b.Rank, max(len(w.In), len(w.Out)), seqCredit-seqToken)
	}
	if b.Number > 0 {
		return nil
	}
	slots := int64(0)
	for k := range b.Of {
		for _, p := range g.Wiring[i+k].In {
			slots += int64(l.Ring.SlotsOf(p.Slots))
		}
	}
	need := unit.Bytes(slots * l.Ring.SlotBytes)
	if have := memory.RingSpace(e.m, pe, l.Ring.Space, taken(l, pe)); need > have {
		return &fault.RingMemory{Place: e.placeOf(b.Rank, pe, "launch", e.Now()), Kind: l.Ring.Space.String(), Need: need, Have: have}
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
