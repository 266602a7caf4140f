package sim

import (
	"iter"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/oplog"
	"kernbench/tl"
	"kernbench/unit"
)

// op is an instruction as it is recorded: what its time depends on. It has no gaps, so that many are
// compared at once.
type op struct {
	kind opKind
	port uint8
	more bool // opLoad: a further piece of its tensor; opRecv: the payload is assembled
	form uint32
	dst  int32
	a, b int32 // cells, or tl.None: none, or one that is empty
	c    int32
	time unit.Time // that its engine works: the memory's port, MATH, GEMM
}

type opKind uint16

const (
	opLoad opKind = iota
	opStore
	opMath
	opGemm
	opSend
	opSendRef // from memory
	opRecv
	opPost  // costs its issue only
	opDrop  // the value of cell a is gone; with a log only
	opEnd   // of the kernel
	opFault // of the kernel: it is run again to say what it was
)

// detail is the rest of an op, for a log or a trace.
type detail struct {
	who        oplog.Who
	n          int32    // elements
	aOff, bOff int32    // of the operands, in their tensors
	addr       mem.Addr // of an access
	typ        dtype.Type
	by         dtype.BinaryOp
	whole      int32 // the instruction itself, in the list of those, if that is not all; 0: it is
}

// recorder is the Core of a kernel that is being recorded. It needs nobody else: a local kernel
// learns nothing from others but data, which it cannot look at.
type recorder struct {
	w     *follow
	f     *follower
	ctx   *tl.Context
	setup tl.Setup
	room  int      // for ops, until the kernel is stopped to be followed so far
	known []uint32 // generation of the cell's tensor that an op fills, by cell
	forms [8]struct {
		key formKey
		id  uint32
	}
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	ended   bool       // the kernel has
	traffic tl.Traffic // of it, then
	gone    bool       // it has been told to end
	repeat  *again
}

// newRecorder makes one, whose coroutine records one kernel after the other.
func (w *follow) newRecorder() *recorder {
	r := &recorder{w: w}
	r.setup = tl.Setup{
		Core: r, Ring: w.ring, Addrs: w.launch.Addrs, Scratch: w.launch.Scratch,
		PEName:      func() string { return w.e.m.PEName(int(r.f.pe)) },
		Now:         func() (unit.Time, bool) { return r.now(), true },
		RecordLines: w.e.opts.RecordLines, Local: true, Sends: w.launch.Sends,
	}
	r.next, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
		for {
			r.run()
			if r.gone || !yield(struct{}{}) {
				return
			}
		}
	})
	return r
}

// now is the simulated time, which is known only when a kernel is run again.
func (r *recorder) now() unit.Time {
	if r.repeat != nil {
		return r.repeat.at
	}
	return 0
}

// run takes the kernel of a rank from its beginning to its end.
func (r *recorder) run() (err error) {
	w, f := r.w, r.f
	g := &w.launch.Groups[f.group]
	s := &r.setup
	s.Rank, s.World, s.PE, s.PEsPerCube, s.Wiring = int(f.index), len(g.PEs), int(f.pe), g.PEsPerCube, &g.Wiring[f.index]
	if r.ctx == nil {
		r.ctx = tl.NewContext(*s)
	} else {
		r.ctx.Reset(*s)
	}
	clear(r.known)
	abandoned, err := r.ctx.Run(w.launch.Kernel, g.Args)
	switch {
	case r.gone:
		return err
	case abandoned:
		err = &fault.Misuse{Place: w.e.placeOf(int(f.index), int(f.pe), "abandon", r.now()), Reason: "it is for executors: a kernel ends by returning"}
	}
	o := op{kind: opEnd, dst: tl.None, a: tl.None, b: tl.None, c: tl.None}
	if err != nil {
		o.kind = opFault
	}
	r.w.part.ops = append(r.w.part.ops, o)
	if w.detailed {
		r.w.part.detail = append(r.w.part.detail, detail{})
	}
	r.traffic = r.ctx.Traffic()
	r.ended = true
	return err
}

// describe keeps what a log or a trace will be told of an op.
func (r *recorder) describe(o *op, in *tl.Instr) {
	d := detail{n: int32(in.N), aOff: in.AOff, bOff: in.BOff, addr: in.Addr, typ: in.Type, by: in.Binary}
	if w := r.w; w.log != nil {
		d.who = w.who[r.f.id]
	}
	if line := r.ctx.Line(); line != "" && r.w.log != nil {
		d.who = r.w.log.Who(oplog.Origin{Rank: r.f.index, PE: r.f.pe, Line: line})
	}
	plain := true
	switch o.kind {
	case opLoad:
		plain = in.Rows == 0 && in.N == in.Shape.Elems()
	case opStore:
		plain = in.Rows == 0
	case opMath:
		plain = in.Math == tl.MathBinary && in.Axis == 1 && in.Inner == 1
	case opGemm:
		plain = false
	}
	if !plain {
		d.whole = int32(len(r.w.part.whole))
		r.w.part.whole = append(r.w.part.whole, *in)
	}
	r.w.part.detail = append(r.w.part.detail, d)
}

// Do records an instruction.
func (r *recorder) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		r.drop(in.A)
		return
	}
	if r.repeat != nil && r.repeat.reached(r, in) {
		return
	}
	o := op{dst: tl.None, a: tl.None, b: tl.None, c: tl.None}
	switch in.Op {
	case tl.OpLoad:
		r.address("load", in, span(in))
		o.kind, o.more, o.time = opLoad, in.Piece > 0, r.w.accessTime(in.Bytes())
		o.dst = r.fills(in.Dst)
	case tl.OpStore:
		r.address("store", in, span(in))
		o.kind, o.a, o.time = opStore, r.reads(in.A), r.w.accessTime(in.Bytes())
	case tl.OpMath:
		n := in.N
		if in.Math == tl.MathReduce {
			n = in.Outer * in.Axis * in.Inner
		}
		o.kind, o.a, o.b, o.c, o.time = opMath, r.reads(in.A), r.reads(in.B), r.reads(in.C), r.w.e.spec.Math.Time(n)
		o.dst = r.fills(in.Dst)
	case tl.OpGemm:
		o.kind, o.a, o.b, o.time = opGemm, r.reads(in.A), r.reads(in.B), r.w.e.spec.GEMM.Time(in.Outer, in.Axis, in.Inner)
		o.dst = r.fills(in.Dst)
	case tl.OpSend:
		o.kind, o.port, o.form, o.a = opSend, uint8(in.Port), r.form(in), r.reads(in.A)
		if in.A == tl.None && in.N > 0 {
			r.address("send", in, in.Bytes())
			o.kind, o.time = opSendRef, r.w.accessTime(in.Bytes())
		}
	case tl.OpRecv:
		o.kind, o.port, o.form, o.more = opRecv, uint8(in.Port), r.form(in), in.Copy
		o.dst = r.fills(in.Dst)
		in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, in.Shape, in.Type, in.N
	default: // a receive that is announced: there is nothing else in local kernels
		o.kind = opPost
	}
	r.record(o, in)
}

// drop records that the value of a cell is gone, which no kernel is stopped at.
func (r *recorder) drop(cell int32) {
	if r.repeat != nil {
		return
	}
	p := &r.w.part
	p.ops = append(p.ops, op{kind: opDrop, a: cell})
	if r.w.detailed {
		p.detail = append(p.detail, detail{})
	}
}

func (r *recorder) record(o op, in *tl.Instr) {
	if r.repeat != nil {
		return
	}
	r.w.part.ops = append(r.w.part.ops, o)
	if r.w.detailed {
		r.describe(&o, in)
	}
	if len(r.w.part.ops) >= r.room && !r.yield(struct{}{}) {
		r.gone = true
		r.ctx.Abandon()
	}
}

// fills is the cell of a tensor that an op makes.
func (r *recorder) fills(i int32) int32 {
	if i == tl.None {
		return i
	}
	for int(i) >= len(r.known) {
		r.known = append(r.known, 0)
	}
	c := r.ctx.Cell(i)
	r.known[i] = c.Gen()
	if r.w.log != nil {
		c.Value = 1 // so that its end is told
	}
	return i
}

// reads is the cell of an operand. One that no op has filled is empty.
func (r *recorder) reads(i int32) int32 {
	if i == tl.None || int(i) >= len(r.known) || r.known[i] != r.ctx.Cell(i).Gen() {
		return tl.None
	}
	return i
}

func (r *recorder) address(call string, in *tl.Instr, bytes int64) {
	if why := r.w.e.checkAddress(in.Addr, bytes); why != "" {
		r.record(op{kind: opPost}, in) // it has been issued
		r.ctx.Fail(&fault.BadAddress{Place: r.ctx.Place(call), Addr: in.Addr.String(), Bytes: bytes, Reason: why})
	}
}

// accessTime is what the port of an HBM slice takes for so many bytes, message by message.
func (w *follow) accessTime(bytes int64) unit.Time {
	if bytes == w.access.bytes {
		return w.access.time
	}
	e := w.e
	t := e.hbm.Serial.Time(bytes)
	if most := int64(e.topo.Fabric.MessageBytes); bytes > most && e.opts.Fidelity != noc.Ideal {
		t = e.hbm.Serial.Time(bytes%most) + unit.Time(bytes/most)*e.hbm.Serial.Time(most)
	}
	w.access.bytes, w.access.time = bytes, t
	return t
}
