package program

import (
	"math"

	"kernbench/dtype"
	"kernbench/tl"
)

// Instr makes the instruction of an operation, without its places.
func (p *Program) Instr(o *Op) tl.Instr {
	f, m := &p.Forms[o.Form], &p.More[o.More]
	in := tl.Instr{
		Op: o.Code, Math: o.Math, Type: f.Type, Port: int(o.Port), Dst: o.Dst, A: o.A, B: o.B, C: o.C,
		N: int(o.N), Shape: f.Shape, DstOff: m.DstOff, COff: m.COff, Pieces: max(1, m.Pieces), Rows: m.Rows, Pitch: m.Pitch,
		Outer: m.Outer, Axis: m.Axis, Inner: m.Inner, Scalar: math.Float64frombits(m.Scalar), Scalar2: math.Float64frombits(m.Scalar2), Side: m.Side,
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
	case tl.OpRecv:
		in.Copy = o.Sub == Assembled
	}
	return in
}
