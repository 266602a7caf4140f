package sim

import (
	"fmt"
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

// This file executes loads and stores of several copies of a window at once, which switches
// perform. All members have a link to one switch, or to a tree of switches.
//
// A load sends a request to the root of the tree, which sends one to each switch below it and to
// each member. Each member's memory sends its data to its switch over the member's own link, in
// messages. A switch combines a message when it has arrived whole from all members and switches
// below. It sends the result up; the root sends it to the requesting PE. A store sends each message
// up to the root. When it has arrived whole, each switch sends a copy to all below it. So a message
// is stored in each switch once. An operation that does both sends down what the root has combined.
// Messages that end or begin in a switch wait for no buffer: the switch accepts all.

// multi is such a load or store that is in flight.
type multi struct {
	t       transfer   // with what it has in common with other loads and stores
	from    []mem.Addr // by member: what is combined
	to      []mem.Addr // by member: where it is stored
	peers   []int32    // of a store, by member: the number of the peer, or -1 for the PE itself
	by      dtype.BinaryOp
	group   *group
	member  int       // number of this PE in the team
	per     int32     // elements of a part: as many as a message has
	parts   int       // messages that carry the data over a link
	left    int       // results or copies that have not arrived
	coming  []int32   // of a load, by switch and part: data that have not come to it
	missing int       // of a load: parts of which the root lacks some data
	lacking []int32   // of a store, by member: parts that have not arrived
	sums    []partSum // of a load and store, by part
}

// partSum holds what the root has combined.
type partSum struct {
	value tl.Value
	left  int // copies that have not arrived
}

// multiAccess marks the number of a multi among those of transfers, in a rank's list of accesses.
const multiAccess = 1 << 31

// group is PEs that switches join.
type group struct {
	*machine.Multimem
	pes []int32
}

// switchRoute is a part of a route that begins or ends at a switch.
type switchRoute struct {
	node, sw machine.NodeID
	kind     switchDirection
}

type switchDirection uint8

const (
	toSwitch      switchDirection = iota
	fromSwitch                    // to a PE, a memory or a switch
	askFromSwitch                 // to a memory, without its port
)

// multimem finds the switches of an instruction's group. It is a fault if there are none, or if
// they lack the operation.
func (r *rank) multimem(in *tl.Instr) *group {
	x := r.run
	var key any = in.Side.Win.Team
	if in.Side.Group != nil {
		key = in.Side.Group
	}
	g, known := x.groups[key]
	if !known {
		var err error
		if g, err = x.e.group(in.Side.PEs()); err != nil {
			r.unsupported(in, err)
		}
		if x.groups == nil {
			x.groups = map[any]*group{}
		}
		x.groups[key] = g
	}
	if in.Op != tl.OpLoadReduce {
		if err := g.CheckMulticast(); err != nil {
			r.unsupported(in, err)
		}
	}
	if in.Op != tl.OpMulticast {
		if err := g.CheckReduce(in.Type.String()); err != nil {
			r.unsupported(in, err)
		}
	}
	return g
}

// group finds, and keeps, the switches that join some PEs.
func (e *Executor) group(pes []int32) (*group, error) {
	key := fmt.Sprint(pes)
	if g, known := e.groups[key]; known {
		return g, nil
	}
	x, err := e.m.Multimem(pes)
	if err != nil {
		return nil, err
	}
	if e.groups == nil {
		e.groups = map[string]*group{}
	}
	g := &group{x, pes}
	e.groups[key] = g
	return g, nil
}

func (r *rank) unsupported(in *tl.Instr, err error) {
	what := fmt.Sprintf("what multimem of %v needs: %v", in.Type, err)
	tl.DriverOf(r.ctx).Fail(&fault.Unsupported{Place: tl.DriverOf(r.ctx).Place(in.Call()), What: what})
}

// switchPath is such a part, and the rate of its slowest link.
type switchPath struct {
	noc.Route
	slowest unit.Rate
}

// switchRoute returns, and caches, the route between a node of a member and its switch.
func (e *Executor) switchRoute(g *group, kind switchDirection, node machine.NodeID, member int) switchPath {
	return e.keptRoute(switchRoute{node, g.Switches[g.At[member]].Node, kind}, func() []machine.Hop {
		if kind == toSwitch {
			return e.m.RouteUp(nil, g.Multimem, member, node)
		}
		return e.m.RouteDown(nil, g.Multimem, member, node, kind == askFromSwitch)
	})
}

// linkRoute returns, and caches, the route between a switch and the one above it.
func (e *Executor) linkRoute(g *group, kind switchDirection, sw int32) switchPath {
	j := &g.Switches[sw]
	return e.keptRoute(switchRoute{j.Node, g.Switches[j.Above].Node, kind}, func() []machine.Hop {
		if kind == toSwitch {
			return []machine.Hop{j.Up}
		}
		return []machine.Hop{j.Down}
	})
}

func (e *Executor) keptRoute(key switchRoute, hops func() []machine.Hop) switchPath {
	if known, ok := e.switchRoutes[key]; ok {
		return known
	}
	found := switchPath{Route: e.net.AddPath(hops())}
	_, found.slowest = e.net.Latency(found.Route)
	if e.switchRoutes == nil {
		e.switchRoutes = map[switchRoute]switchPath{}
	}
	e.switchRoutes[key] = found
	return found
}

// multi begins a load or store of several copies.
func (r *rank) multi(in *tl.Instr, kind transferKind) multi {
	m := multi{
		t: transfer{
			kind: kind, rank: r.id, cell: tl.None, slot: -1, typ: in.Type, n: int32(in.N), bytes: in.Bytes(),
			at: r.Clock, line: r.currentCall(), turn: r.turn,
		},
		by: in.Binary, group: r.multimem(in),
	}
	m.member = slices.Index(m.group.pes, r.seat)
	m.per = max(1, int32(int64(r.run.e.topo.Fabric().MessageBytes)/int64(in.Type.Size())))
	m.parts = tl.CDiv(in.N, int(m.per))
	switch in.Op {
	case tl.OpLoadReduce:
		m.from = r.copies(in, in.Side.Remote, false)
	case tl.OpMulticast:
		m.to = r.copies(in, in.Side.Remote, true)
	case tl.OpReduceMulticast:
		m.from, m.to = r.copies(in, in.Side.Local, false), r.copies(in, in.Side.Remote, true)
	}
	return m
}

// copies returns an address in the copies of all members, when the PE's own accesses to them that
// come first are complete.
func (r *rank) copies(in *tl.Instr, a mem.Addr, write bool) (all []mem.Addr) {
	for i := range in.Side.PEs() {
		a := in.Side.Of(a, i)
		r.address(in.Call(), a, in.Bytes())
		r.awaitLocal(a, in.Bytes(), write)
		all = append(all, a)
	}
	return all
}

// part returns the first element of a part, and the number of its elements.
func (m *multi) part(k int) (off, n int32) {
	off = int32(k) * m.per
	return off, min(m.per, m.t.n-off)
}

// place returns where a part begins in a member's memory.
func (m *multi) place(at mem.Addr, off int32) mem.Addr {
	return at + mem.Addr(int64(off)*int64(m.t.typ.Size()))
}

// flyMulti notes that a load or store of several copies is in flight.
func (r *rank) flyMulti(m *multi) uint32 {
	r.startsTransfer()
	id := r.run.multis.Put(m)
	for _, a := range m.from {
		r.accesses = append(r.accesses, access{a, a + mem.Addr(m.t.bytes), multiAccess | id, false})
	}
	for _, a := range m.to {
		r.accesses = append(r.accesses, access{a, a + mem.Addr(m.t.bytes), multiAccess | id, true})
	}
	r.multis++
	return id
}

// loadReduce starts a load of several copies, which switches combine.
func (r *rank) loadReduce(in *tl.Instr) {
	m := r.multi(in, transferGroupSum)
	r.enqueue(dma.Compute)
	c := tl.DriverOf(r.ctx).Cell(in.Dst)
	c.Waiting++
	m.t.cell, m.t.gen = in.Dst, c.Gen()
	m.left = m.parts
	r.askAll(&m)
}

// reduceMulticast starts a load of several copies, which switches combine, and a store of the
// result to all of them.
func (r *rank) reduceMulticast(in *tl.Instr) {
	m := r.multi(in, transferGroupBoth)
	r.storingAll(&m)
	r.enqueue(dma.Compute)
	m.sums = make([]partSum, m.parts)
	r.askAll(&m)
	r.inSequence(m.peers)
}

// askAll sends the request for a load.
func (r *rank) askAll(m *multi) {
	x, e := r.run, r.run.e
	m.missing = m.parts
	m.coming = make([]int32, m.missing*len(m.group.Switches))
	for i := range m.coming {
		j := &m.group.Switches[i/m.missing]
		m.coming[i] = int32(len(j.Below) + len(j.Members))
	}
	route := e.switchRoute(m.group, toSwitch, e.m.PE(int(r.seat)), m.member).Route
	start := r.startsAccess(r.Clock+e.spec.DMA.Setup, m.t.kind == transferGroupBoth)
	id := r.flyMulti(m)
	user := x.xfers.Put(&transfer{kind: transferGroupAsk, rank: r.id, cell: tl.None, slot: -1, ref: id, seq: uint32(m.group.At[m.member])})
	r.begin(start, route, noc.Compute, int64(e.topo.Fabric().RequestBytes), user, r.nextKey(des.Arrive, seqProgram))
}

// storingAll delays a store to several copies as each of them demands, and counts the copies that
// have not arrived.
func (r *rank) storingAll(m *multi) {
	m.left = m.parts * len(m.to)
	for _, a := range m.to {
		i := r.storing(a)
		if i >= 0 {
			r.peers.at(i).out++
		}
		m.peers, m.lacking = append(m.peers, i), append(m.lacking, int32(m.parts))
	}
}

// inSequence holds the kernel, under a memory order that wants it, until a store is complete.
func (r *rank) inSequence(peers []int32) {
	for _, i := range peers {
		if i >= 0 {
			r.awaitSequential(i)
		}
	}
}

// multicast starts a store to several copies.
func (r *rank) multicast(in *tl.Instr) {
	x, e := r.run, r.run.e
	r.operand(in.A)
	m := r.multi(in, transferGroupWrite)
	r.storingAll(&m)
	r.enqueue(dma.Compute)
	c := tl.DriverOf(r.ctx).Cell(in.A)
	m.t.value, m.t.off = c.Value, c.Off+in.AOff
	if x.log != nil {
		x.log.Retain(m.t.value)
	}
	r.noteRead(in.A, &m.t)
	path := e.switchRoute(m.group, toSwitch, e.m.PE(int(r.seat)), m.member)
	start := r.startsAccess(r.Clock+e.spec.DMA.Setup, true)
	sw := m.group.At[m.member]
	id := r.flyMulti(&m)
	for k := range m.parts {
		t := transfer{kind: transferGroupWrite, rank: r.id, cell: tl.None, slot: -1, ref: id, off: int32(k), total: int32(m.parts),
			seq: uint32(sw)}
		if k == m.parts-1 {
			t.slot, t.rx = m.t.slot, m.t.rx
		}
		bytes := m.wire(r, transferGroupWrite, k, sw, path)
		r.begin(start, path.Route, noc.Compute, bytes, x.xfers.Put(&t), r.nextKey(des.Arrive, seqProgram))
	}
	r.inSequence(m.peers)
}

// wire returns the bytes that a request takes on a path to or from a switch, or those of a part
// with the protocol's flags.
func (m *multi) wire(r *rank, kind transferKind, part int, sw int32, path switchPath) int64 {
	if kind <= transferGroupRequest {
		return int64(r.run.e.topo.Fabric().RequestBytes)
	}
	_, n := m.part(part)
	return m.group.Switches[sw].WireBytes(r.run.ring.Protocol.Wire(int64(n)*int64(m.t.typ.Size())), path.slowest)
}

// deliveredMulti: a part of a load or store of several copies has arrived at a switch, or from one.
func (x *run) deliveredMulti(user uint32, now unit.Time) {
	t := *x.xfers.At(user)
	x.xfers.Drop(user)
	r, m := &x.ranks[t.rank], x.multis.At(t.ref)
	e, part, to := x.e, int(t.off), int32(t.seq) // to a switch or member
	switch t.kind {
	case transferGroupAsk, transferGroupWrite:
		switch {
		case m.group.Switches[to].Above >= 0:
			x.sendsUp(r, t.kind, t.ref, to, part, now)
		case t.kind == transferGroupAsk:
			x.spreads(r, transferGroupSpread, t.ref, to, part, now)
		default:
			x.spreads(r, transferGroupForward, t.ref, to, part, now)
		}
	case transferGroupSpread, transferGroupForward:
		x.spreads(r, t.kind, t.ref, to, part, now)
	case transferGroupRequest:
		path, sw := e.switchRoute(m.group, toSwitch, e.m.HBM(int(m.group.pes[to])), int(to)), m.group.At[to]
		for k := range m.parts {
			r.beginPart(now, path, m, transferGroupRead, t.ref, k, sw, sw)
		}
	case transferGroupRead:
		x.combines(r, t.ref, to, part, now)
	case transferGroupResult:
		x.sendsBack(r, t.ref, to, part, now)
	case transferGroupSum:
		if m.left--; m.left == 0 {
			x.doneMulti(r, t.ref, now)
		}
	case transferGroupCopy:
		x.copied(r, t.ref, int(to), part, now)
	}
}

// combines: a part has come to a switch from a member or a switch below. With the last one the
// switch combines them.
func (x *run) combines(r *rank, id uint32, sw int32, part int, now unit.Time) {
	m := x.multis.At(id)
	waits := &m.coming[int(sw)*m.parts+part]
	if *waits--; *waits > 0 {
		return
	}
	j := &m.group.Switches[sw]
	if j.Above < 0 {
		if m.missing--; m.missing == 0 {
			x.reduced(r, m, now)
		}
		if m.sums != nil && x.log != nil {
			x.sumOf(r, m, part, now)
		}
	}
	late := j.Spec.Reduce.Latency
	if x.causes != nil && late > 0 {
		x.setCurrent(x.causes.Add(now+late, x.current, cause.Protocol, 0))
	}
	switch {
	case j.Above >= 0:
		x.sendsUp(r, transferGroupRead, id, sw, part, now+late)
	case m.t.kind == transferGroupBoth:
		x.spreads(r, transferGroupForward, id, sw, part, now+late)
	default:
		x.sendsBack(r, id, sw, part, now+late)
	}
}

// sendsBack sends a part of the result from a switch towards the PE that issued the request.
func (x *run) sendsBack(r *rank, id uint32, sw int32, part int, at unit.Time) {
	m := x.multis.At(id)
	next := m.group.At[m.member]
	if next == sw {
		path := x.e.switchRoute(m.group, fromSwitch, x.e.m.PE(int(r.seat)), m.member)
		r.beginPart(at, path, m, transferGroupSum, id, part, sw, 0)
		return
	}
	for m.group.Switches[next].Above != sw {
		next = m.group.Switches[next].Above
	}
	r.beginPart(at, x.e.linkRoute(m.group, fromSwitch, next), m, transferGroupResult, id, part, sw, next)
}

// sendsUp sends a request, or a part, from a switch to the one above it.
func (x *run) sendsUp(r *rank, kind transferKind, id uint32, sw int32, part int, at unit.Time) {
	m := x.multis.At(id)
	above := m.group.Switches[sw].Above
	r.beginPart(at, x.e.linkRoute(m.group, toSwitch, sw), m, kind, id, part, above, above)
}

// spreads sends a request, or copies of a part, to all that are below a switch. The kind is that of
// what goes to switches; the next kind goes to members.
func (x *run) spreads(r *rank, kind transferKind, id uint32, sw int32, part int, at unit.Time) {
	m, route := x.multis.At(id), fromSwitch
	j := &m.group.Switches[sw]
	for _, below := range j.Below {
		r.beginPart(at, x.e.linkRoute(m.group, fromSwitch, below), m, kind, id, part, sw, below)
	}
	if kind == transferGroupSpread {
		route = askFromSwitch
	}
	for _, member := range j.Members {
		path := x.e.switchRoute(m.group, route, x.e.m.HBM(int(m.group.pes[member])), int(member))
		r.beginPart(at, path, m, kind+1, id, part, sw, member)
	}
}

// copied: a copy of a part has arrived in a member's memory.
func (x *run) copied(r *rank, id uint32, member, part int, now unit.Time) {
	m := x.multis.At(id)
	off, n := m.part(part)
	if x.log != nil {
		value, first := m.t.value, m.t.off+off
		if m.sums != nil {
			value, first = m.sums[part].value, 0
		}
		x.log.Store(m.t.origin(r, now), m.place(m.to[member], off), value, first, int(n), m.t.typ)
		if m.sums != nil {
			if m.sums[part].left--; m.sums[part].left == 0 {
				x.log.Release(value)
			}
		}
	}
	if m.lacking[member]--; m.lacking[member] == 0 && m.peers[member] >= 0 {
		r.storeArrived(m.peers[member], now)
	}
	if m.left--; m.left == 0 {
		x.doneMulti(r, id, now)
	}
}

// beginPart sends a request, or a part of the data, between a switch and what is next to it, which
// is numbered to.
func (r *rank) beginPart(at unit.Time, path switchPath, m *multi, kind transferKind, id uint32, part int, sw, to int32) {
	user := r.run.xfers.Put(&transfer{kind: kind, rank: r.id, cell: tl.None, slot: -1, ref: id, off: int32(part), seq: uint32(to)})
	r.begin(at, path.Route, noc.Compute, m.wire(r, kind, part, sw, path), user, r.nextKey(des.Arrive, seqReply))
}

// reduced: the root has the data of all members. A load combines the values that their memories
// held.
func (x *run) reduced(r *rank, m *multi, now unit.Time) {
	r.leave(dma.Compute, now)
	if x.log == nil || m.sums != nil {
		return
	}
	v := x.log.LoadReduce(m.t.origin(r, now), m.from, int(m.t.n), m.t.typ, m.by)
	if c := tl.DriverOf(r.ctx).Cell(m.t.cell); c.Gen() == m.t.gen {
		c.Value, c.Off = v, 0
		return
	}
	x.log.Release(v) // the kernel has freed the tensor meanwhile
}

// sumOf combines a part of what the memories of all members hold, to be stored to them.
func (x *run) sumOf(r *rank, m *multi, part int, now unit.Time) {
	off, n := m.part(part)
	at := make([]mem.Addr, len(m.from))
	for i, a := range m.from {
		at[i] = m.place(a, off)
	}
	m.sums[part] = partSum{x.log.LoadReduce(m.t.origin(r, now), at, int(n), m.t.typ, m.by), len(m.to)}
}

// doneMulti: all of a load or store of several copies has arrived.
func (x *run) doneMulti(r *rank, id uint32, now unit.Time) {
	m := *x.multis.At(id)
	x.multis.Drop(id)
	r.multis--
	x.release(m.t.value)
	r.endsTransfer(now)
	r.accesses = slices.DeleteFunc(r.accesses, func(a access) bool { return a.user == multiAccess|id })
	if m.t.kind == transferGroupSum {
		r.emitSpan(trace.Load, m.t.at, now, m.t.bytes, m.t.line)
		r.filled(&m.t, now)
	} else {
		r.emitSpan(trace.Store, m.t.at, now, m.t.bytes, m.t.line)
	}
	switch {
	case r.wait == forAccess:
		r.AdvanceTo(now)
		x.resume(r)
	case r.wait >= forGet:
		r.progress(0, now)
	}
}
