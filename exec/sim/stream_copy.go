package sim

import (
	"kernbench/des"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/frames"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// engineCopy lets the copy engine move bytes from memory to memory over the links between
// them, and waits for it. Within one memory the bytes pass its port twice.
func (r *rank) engineCopy(op *launch.StreamOp) {
	x, e := r.run, r.run.e
	span := func(pitch int64) int64 { return int64(op.Rows-1)*pitch + op.Bytes }
	r.address("copy", op.Src, span(op.SrcPitch))
	r.address("copy", op.Dst, span(op.DstPitch))
	r.accountCopy(op)
	bytes := op.Bytes * int64(op.Rows)
	elems := int32(bytes / int64(op.Type.Size()))
	t := transfer{
		kind: transferEngineCopy, rank: r.id, cell: tl.None, slot: -1, typ: op.Type, addr: op.Src, rows: int32(op.Rows), pitch: op.SrcPitch,
		n: elems, total: elems, bytes: bytes, at: r.Clock, line: frames.NewCall(op.Line),
	}
	if x.log != nil {
		t.value = x.log.NewValue()
	}
	from, to := node(e.m, op.Src), node(e.m, op.Dst)
	route := e.route(from, to)
	if from == to {
		route = e.route(from, r.nearestPE(op.Src))
	}
	start := r.Clock
	r.startsTransfer()
	r.begin(r.Clock+e.spec.DMA.Setup, route, noc.Collective, bytes, x.xfers.Put(&t), r.nextKey(des.Arrive, seqProgram))
	for r.inFlight > 0 {
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

// copyDelivered: the bytes are there, or, within one memory, in flight back to it.
func (r *rank) copyDelivered(t *transfer, now unit.Time) {
	x, e, op := r.run, r.run.e, r.stream.op
	if to := node(e.m, op.Dst); t.kind == transferEngineCopy && node(e.m, op.Src) == to {
		t.becomes(transferEngineReturn)
		r.begin(now, e.route(r.nearestPE(op.Dst), to), noc.Collective, t.bytes, x.xfers.Put(t), r.nextKey(des.Arrive, seqReply))
		return
	}
	t.addr, t.pitch = op.Dst, op.DstPitch
	x.written(r, t, now)
	x.release(t.value)
	r.endsTransfer(now)
	r.AdvanceTo(now)
	x.resume(r)
}
