package sim

import (
	"kernbench/des"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// engineCopy lets the copy engine move bytes from memory to memory over the links between
// them, and waits for it. Within one memory the bytes pass its port twice.
func (r *rank) engineCopy(op *launch.StreamOp) {
	x, e := r.run, r.run.e
	span := func(pitch int64) int64 { return int64(op.Rows-1)*pitch + op.Bytes }
	r.engineAddress(op.Src, span(op.SrcPitch))
	r.engineAddress(op.Dst, span(op.DstPitch))
	r.accountCopy(op)
	bytes := op.Bytes * int64(op.Rows)
	t := transfer{
		kind: anEngineCopy, rank: r.id, cell: tl.None, slot: -1, typ: op.Type, addr: op.Src,
		n: int32(bytes / int64(op.Type.Size())), bytes: bytes, at: r.Clock, line: x.lines.number(op.Line),
	}
	if x.log != nil {
		t.value = x.log.NewValue()
	}
	from, to := r.memoryOf(op, false), r.memoryOf(op, true)
	route := e.route(from, to)
	if from == to {
		route = e.route(from, r.nearestPE(op.Src))
	}
	start := r.Clock
	r.startsTransfer()
	r.begin(r.Clock+e.spec.DMA.Setup, route, noc.Collective, bytes, x.xfers.Put(&t), r.nextKey(des.Arrive, seqProgram))
	for r.flying > 0 {
		r.park(forOthers)
	}
	if e.opts.Trace != nil {
		r.emit(trace.Event{Kind: trace.Copy, Peer: int32(op.Dst.Unit()), Start: start, End: r.Clock, Bytes: bytes, Line: op.Line})
	}
}

// nearestPE returns the PE next to a memory, or a PE of the cube that it serves.
func (r *rank) nearestPE(a mem.Addr) machine.NodeID {
	e := r.run.e
	if a.Space() == mem.SRAM {
		return e.m.PE(a.Unit() * e.m.PEsPerCube())
	}
	return e.m.PE(a.Unit())
}

// engineAddress checks the memory that a copy engine touches.
func (r *rank) engineAddress(a mem.Addr, bytes int64) {
	if why := r.run.e.checkAddress(a, bytes); why != "" {
		tl.Drive(r.ctx).Fail(&fault.BadAddress{Place: r.placeOfOp(), Addr: a.String(), Bytes: bytes, Reason: why})
	}
}

// copyTaken: the source has been read.
func (r *rank) copyTaken(t *transfer, now unit.Time) {
	op, log := r.stream.op, r.run.log
	per := int(op.Bytes) / op.Type.Size()
	for row := range op.Rows {
		log.Load(t.origin(r, now), t.value, row*per, per, int(t.n), op.Type, op.Src+mem.Addr(int64(row)*op.SrcPitch))
	}
}

// copyDelivered: the bytes are there, or, within one memory, in flight back to it.
func (r *rank) copyDelivered(t *transfer, now unit.Time) {
	x, op := r.run, r.stream.op
	if t.kind == anEngineCopy && r.memoryOf(op, false) == r.memoryOf(op, true) {
		back := *t
		back.addr = op.Dst
		back.becomes(anEngineReturn)
		e := x.e
		r.begin(now, e.route(r.nearestPE(op.Dst), node(e.m, op.Dst)), noc.Collective, t.bytes, x.xfers.Put(&back),
			r.nextKey(des.Arrive, seqReply))
		return
	}
	if log := x.log; log != nil {
		per := int(op.Bytes) / op.Type.Size()
		for row := range op.Rows {
			log.Store(t.origin(r, now), op.Dst+mem.Addr(int64(row)*op.DstPitch), t.value, int32(row*per), per, op.Type)
		}
		log.Release(t.value)
	}
	r.endsTransfer(now)
	r.AdvanceTo(now)
	x.resume(r)
}
