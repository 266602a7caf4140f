package sim

import (
	"kernbench/des"
	"kernbench/hw/dma"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/unit"
)

// load starts a read of memory: a request to the memory, and the data back. The PE's own memories
// need no request.
func (r *rank) load(in *tl.Instr) {
	bytes, reach := in.Bytes(), span(in)
	r.address("load", in.Addr, reach)
	r.await(in.Addr, reach, transferLoad)
	r.enqueue(dma.Compute)
	c := tl.DriverOf(r.ctx).Cell(in.Dst)
	c.Waiting++
	t := transfer{
		kind: transferLoad, rank: r.id, cell: in.Dst, gen: c.Gen(), slot: -1, typ: in.Type, addr: in.Addr,
		off: in.DstOff, n: int32(in.N), total: int32(in.Shape.Elems()), bytes: bytes, at: r.Clock,
		line: r.currentCall(), turn: r.turn,
		rows: int32(in.Rows), pitch: in.Pitch,
	}
	if log := r.run.log; log != nil {
		if in.Piece == 0 {
			c.Value = log.NewValue()
		}
		t.value = c.Value
		log.Retain(t.value)
	}
	r.startsTransfer()
	r.access(r.ask(r.startsAccess(r.Clock+r.run.e.spec.DMA.Setup, false), &t, transferRequestLoad, seqProgram))
}

// ask starts the transfer of data from memory to this PE, with a request if the memory is not its
// own.
func (r *rank) ask(at unit.Time, t *transfer, request transferKind, sequence uint8) uint32 {
	e := r.run.e
	if r.owns(t.addr) {
		i := r.run.xfers.Put(t)
		r.begin(at, r.fromHBM, noc.Compute, t.bytes, i, r.nextKey(des.Arrive, sequence))
		return i
	}
	from, to := node(e.m, t.addr), e.m.PE(int(r.seat))
	t.route = e.route(from, to)
	ask := e.request(to, from)
	if ask.Empty() {
		wire := r.onWire(t)
		i := r.run.xfers.Put(t)
		r.begin(at, t.route, noc.Compute, wire, i, r.nextKey(des.Arrive, sequence))
		return i
	}
	t.kind = request
	i := r.run.xfers.Put(t)
	r.begin(at, ask, noc.Compute, int64(e.topo.Fabric().RequestBytes), i, r.nextKey(des.Arrive, sequence))
	return i
}

// store starts a write to memory. It writes the value that the tensor has now.
func (r *rank) store(in *tl.Instr) {
	bytes, reach := in.Bytes(), span(in)
	r.address("store", in.Addr, reach)
	r.operand(in.A)
	r.await(in.Addr, reach, transferStore)
	to := r.storing(in.Addr)
	r.enqueue(dma.Compute)
	e, c := r.run.e, tl.DriverOf(r.ctx).Cell(in.A)
	t := transfer{
		kind: transferStore, rank: r.id, cell: tl.None, slot: -1, typ: in.Type, addr: in.Addr,
		value: c.Value, off: c.Off + in.AOff, n: int32(in.N), bytes: bytes, at: r.Clock, line: r.currentCall(), turn: r.turn,
		rows: int32(in.Rows), pitch: in.Pitch,
	}
	if r.run.log != nil {
		r.run.log.Retain(t.value)
	}
	r.noteRead(in.A, &t)
	r.startsTransfer()
	if to >= 0 {
		t.ref = uint32(to + 1)
		r.peers.at(to).out++
	}
	i := r.run.xfers.Put(&t)
	at := r.startsAccess(r.Clock+e.spec.DMA.Setup, true)
	r.begin(at, r.toMemory(in.Addr), noc.Compute, r.onWire(&t), i, r.nextKey(des.Arrive, seqProgram))
	r.access(i)
	if to >= 0 {
		r.awaitSequential(to)
	}
}

// storing delays a store as fences and the machine's memory order demand. It returns the number of
// its peer if the store goes to another PE, else -1.
func (r *rank) storing(a mem.Addr) int32 {
	switch {
	case a.Space() != mem.HBM:
	case !r.owns(a):
		i := r.peer(int32(a.Unit()))
		r.order(i, byStore, false)
		return i
	default:
		if i, ok := r.peers.find(r.seat); ok {
			r.order(i, byStore, false)
		}
	}
	return -1
}

// span returns the bytes of memory from the first to the last byte of a load or store.
func span(in *tl.Instr) int64 {
	if in.Rows == 0 {
		return in.Bytes()
	}
	return int64(in.Rows-1)*in.Pitch + in.Bytes()/int64(in.Rows)
}

// owns reports whether an address is in the HBM slice next to the core.
func (r *rank) owns(a mem.Addr) bool { return a.Space() == mem.HBM && a.Unit() == int(r.seat) }

// toMemory returns the path from the PE to a memory.
func (r *rank) toMemory(a mem.Addr) noc.Route {
	if r.owns(a) {
		return r.toHBM
	}
	e := r.run.e
	return e.route(e.m.PE(int(r.seat)), node(e.m, a))
}

// noteRead notes that a transfer reads a tensor. So its ring slot is not given back before the end
// of the read.
func (r *rank) noteRead(cell int32, t *transfer) {
	if c := tl.DriverOf(r.ctx).Cell(cell); c.InSlot && !r.run.ring.OnRecv {
		t.slot, t.rx = int32(c.Slot), c.In
		r.rx[c.In].slots[t.slot].BeginRead(1)
	}
}

// stage copies the source of a send from memory into the PE. So the message carries the values at
// the call, even if it leaves later.
func (r *rank) stage(in *tl.Instr) tl.Value {
	bytes := in.Bytes()
	if bytes == 0 {
		return 0
	}
	r.address("send", in.Addr, bytes)
	r.await(in.Addr, bytes, transferStage)
	r.enqueue(dma.Compute)
	t := transfer{
		kind: transferStage, rank: r.id, cell: tl.None, slot: -1, typ: in.Type, addr: in.Addr,
		n: int32(in.N), total: int32(in.N), bytes: bytes, at: r.Clock, line: r.currentCall(), turn: r.turn,
	}
	var v tl.Value
	if log := r.run.log; log != nil {
		v = log.NewValue()
		t.value = v
		log.Retain(v)
	}
	r.startsTransfer()
	r.ask(r.startsAccess(r.Clock+r.run.e.spec.DMA.Setup, false), &t, transferRequestStage, seqProgram)
	r.park(forCopy)
	r.book.Accessed(history.Load, in.Addr, bytes)
	return v
}

// fetch reads a slot that lies outside the PE into the tensor of a receive.
func (r *rank) fetch(cell int32, port int, slot int32, bytes int64) {
	c := tl.DriverOf(r.ctx).Cell(cell)
	c.Waiting++
	t := transfer{kind: transferFetch, rank: r.id, cell: cell, gen: c.Gen(), slot: -1, bytes: bytes, at: r.Clock}
	if !r.run.ring.OnRecv {
		t.slot, t.rx = slot, uint8(port)
		r.rx[port].slots[slot].BeginRead(1)
	}
	i := r.run.xfers.Put(&t)
	r.begin(r.Clock+r.run.e.spec.DMA.Setup, r.rx[port].fetch, noc.Compute, bytes, i, r.nextKey(des.Arrive, seqProgram))
}
