package oplog

import (
	"math"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

type kind uint8

const (
	recLoad      kind = iota // Dst[DstOff:+N] of Total elements = memory at Addr
	recStore                 // memory at Addr = A[AOff:+N]
	recMath                  // Dst = math
	recGemm                  // Dst = A × B, sizes Outer, Axis, Inner
	recCast                  // Dst = the bytes of A from AOff on, From elements read as N elements of Type
	recCombine               // memory at Addr = Binary(memory at Addr, A[AOff:+N])
	recDrop                  // A is gone
	recBegin                 // a collective by reduction op over total ranks begins
	recEnd                   // and ends
	recBeginTurn             // turn N of the segment's begins
	recEndTurn               // and ends
)

// record is one entry of the log.
type record struct {
	kind   kind
	math   tl.MathOp
	binary dtype.BinaryOp
	unary  dtype.UnaryOp
	typ    dtype.Type
	from   dtype.Type  // of the operand, when it differs
	op     tl.ReduceOp // recBegin: how contributions are combined

	rank, pe           int32
	dst, a, b, c       tl.Value
	dstOff, aOff       int32
	bOff, cOff         int32
	n, total           int32
	outer, axis, inner int32
	line, call         int32 // in Log.lines
	turn               int32 // whose contributions it merges; 0: those of recBegin
	f, g               float64
	addr               mem.Addr
	time               unit.Time
}

// segmentLen is the number of records that are handed over at once: enough to make the
// hand-over cheap, few enough to stay in cache.
const segmentLen = 1024

type segment struct {
	recs  []record
	turns []*tl.Turn
	flush chan struct{} // closed when everything up to here is done, if not nil
}

// Origin says who performed an operation, for the places of faults.
type Origin struct {
	Rank, PE int32
	Turn     int32 // number of the collective that it is part of, 0: none of those that turns began
	Time     unit.Time
	Line     string // empty unless lines are recorded
	Call     string // the kernel's operation, where that is not what the record is: put
}

func (l *Log) add(o Origin, r record) {
	r.rank, r.pe, r.turn, r.time = o.Rank, o.PE, o.Turn, o.Time
	if o.Line != "" {
		r.line = l.lineIndex(o.Line)
	}
	if o.Call != "" {
		r.call = l.lineIndex(o.Call)
	}
	l.cur = append(l.cur, r)
	if len(l.cur) == cap(l.cur) {
		l.handOver(nil)
	}
}

// NewValue names a value to be made, with one reference.
func (l *Log) NewValue() tl.Value {
	if n := len(l.free); n > 0 {
		v := l.free[n-1]
		l.free = l.free[:n-1]
		l.refs[v] = 1
		return v
	}
	if len(l.refs) == math.MaxUint32 {
		panic("oplog: more than 4294967295 values alive")
	}
	l.refs = append(l.refs, 1)
	return tl.Value(len(l.refs) - 1)
}

// Retain adds a reference.
func (l *Log) Retain(v tl.Value) {
	if v != 0 {
		l.refs[v]++
	}
}

// Release drops a reference; with the last one the value is gone once all records so far
// have been replayed.
func (l *Log) Release(v tl.Value) {
	if v == 0 {
		return
	}
	if l.refs[v]--; l.refs[v] == 0 {
		l.add(Origin{}, record{kind: recDrop, a: v})
		l.free = append(l.free, v)
	}
}

// Load records that n elements of memory become part of value dst, of total elements in
// all, from element off on.
func (l *Log) Load(o Origin, dst tl.Value, off, n, total int, t dtype.Type, a mem.Addr) {
	l.add(o, record{kind: recLoad, dst: dst, dstOff: int32(off), n: int32(n), total: int32(total), typ: t, addr: a})
}

// Store records that n elements of value v, from element off on, are visible at a.
func (l *Log) Store(o Origin, a mem.Addr, v tl.Value, off int32, n int, t dtype.Type) {
	l.add(o, record{kind: recStore, a: v, aOff: off, n: int32(n), typ: t, addr: a})
}

// Combine records that n elements at a become what operation by makes of them and of n
// elements of value v, from element off on: an update that nothing comes between.
func (l *Log) Combine(o Origin, a mem.Addr, v tl.Value, off int32, n int, t dtype.Type, by dtype.BinaryOp) {
	l.add(o, record{kind: recCombine, a: v, aOff: off, n: int32(n), typ: t, addr: a, binary: by})
}

// Cast records that n elements of type t are made of the bytes of v, whose elements are
// of type from: a receive without strict validation. It returns the value.
func (l *Log) Cast(o Origin, v tl.Value, off int32, from dtype.Type, n int, t dtype.Type) tl.Value {
	d := l.NewValue()
	l.add(o, record{kind: recCast, dst: d, a: v, aOff: off, from: from, n: int32(n), total: int32(n), typ: t})
	return d
}

// Operand is a tensor as arithmetic finds it: a value, from element Off on.
type Operand struct {
	Value tl.Value
	Off   int32
}

// Math records the arithmetic of an OpMath or OpGemm whose operands are known, and
// returns the value that it makes.
func (l *Log) Math(o Origin, in *tl.Instr, c *tl.Context) tl.Value {
	operand := func(i int32) Operand {
		if i == tl.None {
			return Operand{}
		}
		return Operand{c.Cell(i).Value, c.Cell(i).Off}
	}
	return l.MathOf(o, in, operand(in.A), operand(in.B), operand(in.C))
}

// MathOf is Math of operands that somebody else has looked up.
func (l *Log) MathOf(o Origin, in *tl.Instr, a, b, c Operand) tl.Value {
	r := record{
		kind: recMath, math: in.Math, binary: in.Binary, unary: in.Unary, typ: in.Type, from: in.Type,
		n: int32(in.N), total: int32(in.N), outer: int32(in.Outer), axis: int32(in.Axis), inner: int32(in.Inner),
		f: in.Scalar, g: in.Scalar2, a: a.Value, b: b.Value, c: c.Value,
		aOff: a.Off + in.AOff, bOff: b.Off + in.BOff, cOff: c.Off + in.COff,
	}
	if in.Op == tl.OpGemm {
		r.kind = recGemm
	}
	if in.Math == tl.MathConvert && in.Op == tl.OpMath {
		r.from = dtype.Type(in.Outer)
	}
	r.dst = l.NewValue()
	l.add(o, r)
	return r.dst
}
