package sim

import (
	"iter"

	"kernbench/hw/ipcq"
	"kernbench/hw/memory"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// prepare makes the ranks of a launch and checks that its rings fit.
func (e *Executor) prepare(l *tl.Launch) (*run, error) {
	x := &run{e: e, launch: l, log: e.opts.Data, history: e.opts.History, ring: &l.Ring, start: e.Now(), xfers: make([]transfer, 1, 256)}
	x.ranks = make([]rank, l.World())
	x.left, x.all = len(x.ranks), len(x.ranks)
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
	for i := range x.ranks {
		x.connect(&x.ranks[i])
	}
	return x, nil
}

func (x *run) prepareRank(g *tl.Group, gi, i int, base int32) error {
	e, id := x.e, base+int32(i)
	r := &x.ranks[id]
	w := &g.Wiring[i]
	*r = rank{run: x, id: id, index: int32(i), pe: g.PEs[i], seat: g.PEs[i], source: uint32(g.PEs[i]), group: int32(gi), base: base, any: -1}
	if err := e.checkRank(x.launch, g, i); err != nil {
		return err
	}
	r.engines, r.component = &r.PE, uint32(e.m.NumLinks())+uint32(r.pe)
	r.Clock, r.began, r.Math.FreeAt, r.GEMM.FreeAt = x.start, x.start, x.start, x.start
	r.tx, r.rx = newPorts(w)
	r.ctx = tl.NewContext(tl.Setup{
		Core: r, Rank: i, World: len(g.PEs), PE: int(r.pe), PEsPerCube: g.PEsPerCube,
		Wiring: w, Ring: x.ring, Addrs: x.launch.Addrs, Scratch: x.launch.Scratch,
		PEName:      func() string { return e.m.PEName(int(r.pe)) },
		Now:         func() (unit.Time, bool) { return r.Clock, true },
		RecordLines: e.opts.RecordLines || e.opts.History != nil, Local: x.launch.Local, Sends: x.launch.Sends,
	})
	r.book = x.history.Book(r.ctx, r)
	r.next, r.stop = iter.Pull(r.body(x.launch.Kernel, g.Args))
	return nil
}

// newPorts are the ends of a rank's rings.
func newPorts(w *tl.Wiring) ([]txPort, []rxPort) {
	return make([]txPort, len(w.Out)), make([]rxPort, len(w.In))
}

// taken is what a PE's rings cannot have of the memory that they lie in.
func taken(l *tl.Launch, pe int) unit.Bytes {
	switch {
	case l.Ring.Space == mem.TCM:
		return l.Scratch
	case l.Ring.Space == mem.HBM && l.Tensors != nil:
		return l.Tensors(pe)
	}
	return 0
}

// connect finds the paths of a rank's rings.
func (x *run) connect(r *rank) {
	e := x.e
	w := &x.launch.Groups[r.group].Wiring[r.index]
	own, hbm := e.m.PE(int(r.pe)), e.m.HBM(int(r.pe))
	r.fromHBM, r.toHBM = e.route(hbm, own), e.route(own, hbm)
	slots := memory.RingNode(e.m, int(r.pe), x.ring.Space)
	var hops []machine.Hop
	for i, o := range w.Out {
		peer := r.base + o.Peer
		to := memory.RingNode(e.m, int(x.ranks[peer].pe), x.ring.Space)
		r.tx[i] = txPort{
			Tx: ipcq.Tx{Slots: uint32(x.ring.Slots)}, peer: peer, peerIn: o.PeerIn, dir: o.Dir,
			source: e.route(e.m.TCM(int(r.pe)), to), slots: e.route(slots, to),
		}
		r.tx[i].late, _ = x.ring.Protocol.Late(e.m.Between(int(r.pe), int(x.ranks[peer].pe)))
	}
	for i, p := range w.In {
		peer := r.base + p.Peer
		q := &r.rx[i]
		*q = rxPort{peer: peer, peerOut: p.PeerOut, held: -1, fetch: e.route(slots, e.m.PE(int(r.pe)))}
		q.Init(x.ring.Slots)
		q.credit, hops = e.creditTime(x.ring, int(r.pe), int(x.ranks[peer].pe), hops)
	}
}
