package sim

import (
	"slices"

	"kernbench/des"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/hw/dma"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// This file carries out loads and stores of all copies of a window at once, which a switch
// performs.
//
// A load sends a request to the switch, which sends one to each member. Each member's memory sends
// its data to the switch over the member's own link, in messages. The switch combines a message
// when it has arrived whole from all members, and sends the result to the requesting PE. A store
// sends each message to the switch once. When it has arrived whole, the switch sends a copy to each
// member. So a message is stored in the switch once. Messages that end or begin there wait for no
// buffer: the switch accepts all.

// multi is such a load or store that is under way.
type multi struct {
	t       transfer // with what it has in common with other loads and stores
	at      []mem.Addr
	peers   []int32 // of a store, by member: the number of the peer, or -1 for the PE itself
	by      dtype.BinaryOp
	group   *group
	left    int     // results or copies that have not arrived
	coming  []int32 // of a load, by part: members whose data have not come to the switch
	missing int     // of a load: parts of which some have not
	lacking []int32 // of a store, by member: parts that have not arrived
}

// multiAccess marks the number of a multi among those of transfers, in a rank's list of accesses.
const multiAccess = 1 << 31

// group is a team whose members a switch joins.
type group struct {
	*machine.Multimem
	pes []int32
}

// hubRoute is a part of a route that begins or ends at a switch.
type hubRoute struct {
	node, hub machine.NodeID
	kind      hubKind
}

type hubKind uint8

const (
	toHub   hubKind = iota
	fromHub         // to a PE or a memory
	askHub          // to a memory, without its port
)

// multimem finds the switch of an instruction's group. It is a fault if there is none, or if it
// lacks the operation.
func (r *rank) multimem(in *tl.Instr) *group {
	e := r.run.e
	team := in.Side.Win.Team
	g, known := e.groups[team]
	if !known {
		x, err := e.m.Multimem(team.PEs)
		if err != nil {
			r.unsupported(in, err)
		}
		g = &group{x, team.PEs}
		if e.groups == nil {
			e.groups = map[*mem.Team]*group{}
		}
		e.groups[team] = g
	}
	err := g.Copies()
	if in.Op == tl.OpLoadReduce {
		err = g.Reduces(in.Type.String())
	}
	if err != nil {
		r.unsupported(in, err)
	}
	return g
}

func (r *rank) unsupported(in *tl.Instr, err error) {
	tl.Drive(r.ctx).Fail(&fault.Unsupported{Place: tl.Drive(r.ctx).Place(in.Call()), What: "what multimem needs: " + err.Error()})
}

// hubRoute returns, and caches, the first part of the route between nodes of two members.
func (e *Executor) hubRoute(g *group, kind hubKind, node machine.NodeID, member int) noc.Route {
	key := hubRoute{node, g.Hub, kind}
	if known, ok := e.hubRoutes[key]; ok {
		return known
	}
	other := e.m.PE(int(g.pes[(member+1)%len(g.pes)]))
	var hops []machine.Hop
	if kind == toHub {
		hops = e.m.RouteToHub(nil, node, other, g.Hub)
	} else {
		hops = e.m.RouteFromHub(nil, other, node, g.Hub, kind == askHub)
	}
	found := e.net.AddPath(hops)
	if e.hubRoutes == nil {
		e.hubRoutes = map[hubRoute]noc.Route{}
	}
	e.hubRoutes[key] = found
	return found
}

// multi begins a load or store of all copies.
func (r *rank) multi(in *tl.Instr, kind transferKind) multi {
	m := multi{
		t: transfer{
			kind: kind, rank: r.id, cell: tl.None, slot: -1, typ: in.Type, n: int32(in.N), bytes: in.Bytes(),
			at: r.Clock, line: tl.Drive(r.ctx).Line(), turn: r.turn,
		},
		by: in.Binary, group: r.multimem(in),
	}
	for member := range m.group.pes {
		a := in.Side.Of(member)
		r.address(in.Call(), a, in.Bytes())
		r.awaitLocal(a, in.Bytes(), kind == aGroupWrite)
		m.at = append(m.at, a)
	}
	return m
}

// part is the first element of a part of a load or store, and the number of its elements: as many
// as a message has.
func (m *multi) part(r *rank, k int) (off, n int32) {
	per := m.perPart(r)
	off = int32(k) * per
	return off, min(per, m.t.n-off)
}

func (m *multi) perPart(r *rank) int32 {
	return max(1, int32(int64(r.run.e.topo.Fabric().MessageBytes)/int64(m.t.typ.Size())))
}

func (m *multi) parts(r *rank) int { return tl.CDiv(int(m.t.n), int(m.perPart(r))) }

// flyMulti notes that a load or store of all copies is under way.
func (r *rank) flyMulti(m *multi) uint32 {
	r.startsTransfer()
	id := r.run.multis.Put(m)
	for _, a := range m.at {
		r.under = append(r.under, access{a, a + mem.Addr(m.t.bytes), multiAccess | id, m.t.kind == aGroupWrite})
	}
	r.multis++
	return id
}

// loadReduce starts a load of all copies, which the switch combines.
func (r *rank) loadReduce(in *tl.Instr) {
	x, e := r.run, r.run.e
	m := r.multi(in, aGroupSum)
	r.enqueue(dma.Compute)
	c := tl.Drive(r.ctx).Cell(in.Dst)
	c.Waiting++
	m.t.cell, m.t.gen = in.Dst, c.Gen()
	parts := m.parts(r)
	m.left, m.missing, m.coming = parts, parts, make([]int32, parts)
	for k := range m.coming {
		m.coming[k] = int32(len(m.at))
	}
	member, _ := in.Side.Win.Team.Rank(int(r.seat))
	route := e.hubRoute(m.group, toHub, e.m.PE(int(r.seat)), member)
	start := r.startsAccess(r.Clock+e.spec.DMA.Setup, false)
	id := r.flyMulti(&m)
	user := x.xfers.Put(&transfer{kind: aGroupAsk, rank: r.id, cell: tl.None, slot: -1, side: id})
	r.begin(start, route, noc.Compute, int64(e.topo.Fabric().RequestBytes), user, r.nextKey(des.Arrive, seqProgram))
}

// multicast starts a store to all copies.
func (r *rank) multicast(in *tl.Instr) {
	x, e := r.run, r.run.e
	r.operand(in.A)
	m := r.multi(in, aGroupWrite)
	for _, a := range m.at {
		m.peers = append(m.peers, r.storing(a))
	}
	r.enqueue(dma.Compute)
	c := tl.Drive(r.ctx).Cell(in.A)
	m.t.value, m.t.off = c.Value, c.Off+in.AOff
	if x.log != nil {
		x.log.Retain(m.t.value)
	}
	r.lend(in.A, &m.t)
	for _, i := range m.peers {
		if i >= 0 {
			r.peers.at(i).out++
		}
	}
	parts := m.parts(r)
	m.left, m.lacking = parts*len(m.at), make([]int32, len(m.at))
	for member := range m.lacking {
		m.lacking[member] = int32(parts)
	}
	member, _ := in.Side.Win.Team.Rank(int(r.seat))
	route := e.hubRoute(m.group, toHub, e.m.PE(int(r.seat)), member)
	start := r.startsAccess(r.Clock+e.spec.DMA.Setup, true)
	id := r.flyMulti(&m)
	for k := range parts {
		_, n := m.part(r, k)
		t := transfer{kind: aGroupWrite, rank: r.id, cell: tl.None, slot: -1, side: id, off: int32(k), total: int32(parts)}
		if k == parts-1 {
			t.slot, t.rx = m.t.slot, m.t.rx
		}
		r.begin(start, route, noc.Compute, m.wire(r, n), x.xfers.Put(&t), r.nextKey(des.Arrive, seqProgram))
	}
	for _, i := range m.peers {
		if i >= 0 {
			r.sequential(i)
		}
	}
}

// wire returns the bytes that n elements take on a link, with the flags of the protocol.
func (m *multi) wire(r *rank, n int32) int64 {
	return m.group.Wire(r.run.ring.Protocol.Wire(int64(n) * int64(m.t.typ.Size())))
}

// deliveredMulti: a part of a load or store of all copies has arrived at the switch, or from there.
func (x *run) deliveredMulti(user uint32, now unit.Time) {
	t := *x.xfers.At(user)
	x.xfers.Drop(user)
	r, m := &x.ranks[t.rank], x.multis.At(t.side)
	e := x.e
	switch t.kind {
	case aGroupAsk:
		for member, pe := range m.group.pes {
			route := e.hubRoute(m.group, askHub, e.m.HBM(int(pe)), member)
			r.beginPart(now, route, int64(e.topo.Fabric().RequestBytes), aGroupRequest, t.side, 0, member)
		}
	case aGroupRequest:
		route := e.hubRoute(m.group, toHub, e.m.HBM(int(m.group.pes[t.seq])), int(t.seq))
		for k := range m.coming {
			_, n := m.part(r, k)
			r.beginPart(now, route, m.wire(r, n), aGroupRead, t.side, k, int(t.seq))
		}
	case aGroupRead:
		if m.coming[t.off]--; m.coming[t.off] > 0 {
			return
		}
		if m.missing--; m.missing == 0 {
			x.reduced(r, m, now)
		}
		_, n := m.part(r, int(t.off))
		member := slices.Index(m.group.pes, r.seat)
		route := e.hubRoute(m.group, fromHub, e.m.PE(int(r.seat)), member)
		late := m.group.Switch.Reduce.Latency
		if x.causes != nil && late > 0 {
			x.hear(x.causes.Add(now+late, x.heard, cause.Protocol, 0))
		}
		r.beginPart(now+late, route, m.wire(r, n), aGroupSum, t.side, int(t.off), 0)
	case aGroupSum:
		if m.left--; m.left == 0 {
			x.doneMulti(r, t.side, now)
		}
	case aGroupWrite:
		_, n := m.part(r, int(t.off))
		for member, pe := range m.group.pes {
			route := e.hubRoute(m.group, fromHub, e.m.HBM(int(pe)), member)
			r.beginPart(now, route, m.wire(r, n), aGroupCopy, t.side, int(t.off), member)
		}
	case aGroupCopy:
		member := int(t.seq)
		if off, n := m.part(r, int(t.off)); x.log != nil {
			x.log.Store(m.t.origin(r, now), m.at[member]+mem.Addr(int64(off)*int64(m.t.typ.Size())), m.t.value,
				m.t.off+off, int(n), m.t.typ)
		}
		if m.lacking[member]--; m.lacking[member] == 0 && m.peers[member] >= 0 {
			i := m.peers[member]
			r.acknowledge(i, now)
			r.stored = max(r.stored, r.peers.at(i).home)
			if r.why != nil {
				x.later(&r.why.stored, r.homeOf(i))
			}
		}
		if m.left--; m.left == 0 {
			x.doneMulti(r, t.side, now)
		}
	}
}

// beginPart starts a part on its way to a switch or from there.
func (r *rank) beginPart(at unit.Time, route noc.Route, bytes int64, kind transferKind, id uint32, part, member int) {
	user := r.run.xfers.Put(&transfer{kind: kind, rank: r.id, cell: tl.None, slot: -1, side: id, off: int32(part), seq: uint32(member)})
	r.begin(at, route, noc.Compute, bytes, user, r.nextKey(des.Arrive, seqReply))
}

// reduced: the switch has the data of all members, and combines the values that their memories
// held.
func (x *run) reduced(r *rank, m *multi, now unit.Time) {
	r.leave(dma.Compute, now)
	if x.log == nil {
		return
	}
	v := x.log.LoadReduce(m.t.origin(r, now), m.at, int(m.t.n), m.t.typ, m.by)
	if c := tl.Drive(r.ctx).Cell(m.t.cell); c.Gen() == m.t.gen {
		c.Value, c.Off = v, 0
		return
	}
	x.log.Release(v) // the kernel has freed the tensor meanwhile
}

// doneMulti: all of a load or store of all copies has arrived.
func (x *run) doneMulti(r *rank, id uint32, now unit.Time) {
	m := *x.multis.At(id)
	x.multis.Drop(id)
	r.multis--
	x.release(m.t.value)
	r.endsTransfer(now)
	r.under = slices.DeleteFunc(r.under, func(a access) bool { return a.user == multiAccess|id })
	if m.t.kind == aGroupSum {
		r.accessSpan(trace.Load, &m.t, now)
		r.filled(&m.t, now)
	} else {
		r.accessSpan(trace.Store, &m.t, now)
	}
	switch {
	case r.wait == forAccess:
		r.AdvanceTo(now)
		x.resume(r)
	case r.wait >= forGet:
		r.progress(0, now)
	}
}
