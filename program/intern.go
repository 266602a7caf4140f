package program

import (
	"math"
	"slices"

	"kernbench/tl"
)

// table numbers the types of tensors and the rest of operations.
type table struct {
	types   []TensorType
	more    []More
	typesOf map[TensorType]uint32
	moreOf  map[More]uint32
	recent  [8]uint32 // types, by a few bits of what they are
}

func newTable() table {
	return table{types: make([]TensorType, 1), more: make([]More, 1), typesOf: map[TensorType]uint32{}, moreOf: map[More]uint32{}}
}

// op returns an instruction as an operation; a, b and c are its operands.
func (t *table) op(in *tl.Instr, a, b, c int32) Op {
	o := Op{
		Code: in.Op, Math: in.Math, Sub: sub(in), Port: uint8(in.Port), TensorType: t.tensorType(in), N: int32(in.N),
		Dst: in.Dst, A: a, B: b, C: c,
	}
	if needsMore(in) {
		o.More = t.rest(in)
	}
	return o
}

// tensorType numbers the type and shape of an instruction.
func (t *table) tensorType(in *tl.Instr) uint32 {
	f := TensorType{in.Type, in.Shape}
	recent := &t.recent[(in.N^int(in.Type))&(len(t.recent)-1)]
	if *recent != 0 && t.types[*recent] == f {
		return *recent
	}
	if !f.Type.Valid() {
		return 0
	}
	id, ok := t.typesOf[f]
	if !ok {
		id = uint32(len(t.types))
		t.types = append(t.types, f)
		t.typesOf[f] = id
	}
	*recent = id
	return id
}

// rest numbers what few instructions have.
func (t *table) rest(in *tl.Instr) uint32 {
	m := restOf(in)
	if in.Side != nil {
		side := *in.Side
		side.Words = slices.Clone(side.Words)
		m.Side = &side
	} else if id, ok := t.moreOf[m]; ok {
		return id
	}
	id := uint32(len(t.more))
	t.more = append(t.more, m)
	if m.Side == nil {
		t.moreOf[m] = id
	}
	return id
}

// sub is Op.Sub of an instruction. No code uses two of these.
func sub(in *tl.Instr) uint8 {
	s := uint8(in.Binary) | uint8(in.Unary)
	if in.Copy || in.Piece > 0 {
		s |= 1
	}
	return s
}

// needsMore reports whether an instruction has what few have.
func needsMore(in *tl.Instr) bool {
	switch in.Op {
	case tl.OpLoad, tl.OpStore:
		return in.Rows != 0 || in.Pieces > 1
	case tl.OpMath:
		return in.Math != tl.MathBinary || in.Axis != 1 || in.Inner != 1
	case tl.OpGemm:
		return true
	case tl.OpSend:
		return in.Channels != 0
	}
	return in.Side != nil
}

func restOf(in *tl.Instr) More {
	m := More{Rows: in.Rows, Pitch: in.Pitch, DstOff: in.DstOff, COff: in.COff, Channels: in.Channels}
	switch in.Op {
	case tl.OpLoad, tl.OpStore:
		m.Pieces = in.Pieces
	case tl.OpMath, tl.OpGemm:
		m.Outer, m.Axis, m.Inner = in.Outer, in.Axis, in.Inner
		m.Scalar, m.Scalar2 = math.Float64bits(in.Scalar), math.Float64bits(in.Scalar2)
	}
	return m
}

// is reports whether an instruction has the same besides.
func (m *More) is(in *tl.Instr) bool {
	return in.Side == nil && m.Side == nil && *m == restOf(in)
}
