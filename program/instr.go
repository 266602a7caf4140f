package program

import (
	"iter"
	"math"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// Instr makes the instruction of an operation, without its places.
func (p *Program) Instr(o *Op) tl.Instr {
	f, m := &p.TensorTypes[o.TensorType], &p.More[o.More]
	in := tl.Instr{
		Op: o.Code, Math: o.Math, Type: f.Type, Port: int(o.Port), Dst: o.Dst, A: o.A, B: o.B, C: o.C,
		N: int(o.N), Shape: f.Shape, DstOff: m.DstOff, COff: m.COff, Pieces: max(1, m.Pieces), Rows: m.Rows, Pitch: m.Pitch,
		Outer: m.Outer, Axis: m.Axis, Inner: m.Inner, Scalar: math.Float64frombits(m.Scalar),
		Scalar2: math.Float64frombits(m.Scalar2), Side: m.Side, Channels: m.Channels,
	}
	switch o.Code {
	case tl.OpMath:
		switch {
		case o.Math == tl.MathUnary:
			in.Unary = dtype.UnaryOp(o.Sub)
		case o.More == 0:
			in.Binary, in.Axis, in.Inner = dtype.BinaryOp(o.Sub), 1, 1
		default:
			in.Binary = dtype.BinaryOp(o.Sub)
		}
	case tl.OpLoad, tl.OpStore:
		in.Piece = int(o.Sub)
	case tl.OpPut, tl.OpLoadReduce, tl.OpReduceMulticast:
		in.Binary = dtype.BinaryOp(o.Sub)
	case tl.OpRecv:
		in.Copy = o.Sub == Assembled
	}
	return in
}

// Instrs makes the instructions of a block on a PE, with its places. They have not been carried
// out.
func (p *Program) Instrs(b *Block, pe int) iter.Seq[tl.Instr] {
	return func(yield func(tl.Instr) bool) {
		k := &p.Records[b.Record]
		addrs, offs, at, operand := Read(b.Places.Addrs), Read(b.Places.Offs), 0, 0
		offset := func() int32 {
			operand++
			return k.Offs[operand-1] + int32(offs.Next())
		}
		for i := range k.Ops[:len(k.Ops)-1] {
			o := &k.Ops[i]
			in := p.Instr(o)
			if o.Accesses() {
				in.Addr = mem.At(mem.HBM, pe, 0) + k.Base[at] + mem.Addr(addrs.Next())
				at++
			}
			if in.A != tl.None {
				in.AOff = offset()
			}
			if in.B != tl.None {
				in.BOff = offset()
			}
			if !yield(in) {
				return
			}
		}
	}
}
