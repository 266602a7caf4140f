package oplog

import (
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
	recDrop                  // only releases values in Gone
	recBegin                 // a collective by reduction op Sub over N ranks begins
	recEnd                   // and ends
	recBeginTurn             // turn N of the segment's begins
	recEndTurn               // and ends
)

// record is one entry of the log: a cache line with the fields that most entries need. Other fields
// are in the segment's list of rests.
type record struct {
	kind kind
	math tl.MathOp
	sub  uint8 // the operation, of the kind that the record has
	typ  dtype.Type
	from dtype.Type // of the operand, when it differs
	rest uint16     // index in segment.rests; 0: it has no rest

	origin OriginID
	turn   int32 // whose contributions it merges; 0: those of recBegin
	time   unit.Time

	n          int32
	dst, a, b  tl.Value
	aOff, bOff int32
	addr       mem.Addr
	gone       [2]tl.Value // values that were released since the record before
}

// rest holds the fields that few entries need.
type rest struct {
	c                  tl.Value
	cOff, dstOff       int32
	total              int32 // elements of a value that is loaded in parts
	outer, axis, inner int32
	f, g               float64
}

func (x *record) binary() dtype.BinaryOp { return dtype.BinaryOp(x.sub) }

// segmentLen is the number of records that are handed over at once: enough to make the
// hand-over cheap, few enough to stay in cache.
const segmentLen = 1024

// segment is a part of the log.
type segment struct {
	recs  []record
	rests []rest        // the first is for records without a rest
	turns []*tl.Turn    // of the records
	flush chan struct{} // closed when everything up to here is done, if not nil
}

func newSegment() segment {
	return segment{recs: make([]record, 0, segmentLen), rests: make([]rest, 1, 16)}
}

// again empties the segment and returns it.
func (s segment) again() segment {
	clear(s.turns)
	return segment{recs: s.recs[:0], rests: s.rests[:1], turns: s.turns[:0]}
}

// next returns a new record by o.
func (l *Log) next(o By) *record {
	n := len(l.cur.recs)
	if n == cap(l.cur.recs) {
		l.handOver(nil)
		n = 0
	}
	l.cur.recs = l.cur.recs[:n+1]
	x := &l.cur.recs[n]
	*x = record{}
	x.origin, x.turn, x.time, x.gone = o.ID, o.Turn, o.Time, l.gone
	l.gone = [2]tl.Value{}
	return x
}

// with gives a record a rest.
func (l *Log) with(x *record, r rest) {
	x.rest = uint16(len(l.cur.rests))
	l.cur.rests = append(l.cur.rests, r)
}

// NewValue returns the number of a new value, with one reference.
func (l *Log) NewValue() tl.Value {
	if n := len(l.free); n > 0 {
		v := l.free[n-1]
		l.free = l.free[:n-1]
		l.refs[v] = 1
		return v
	}
	return l.anotherValue()
}

// Retain adds a reference.
func (l *Log) Retain(v tl.Value) {
	if v != 0 {
		l.refs[v]++
	}
}

// Release drops a reference. After the last one the value is freed once all records so far have
// been applied.
func (l *Log) Release(v tl.Value) {
	if v == 0 {
		return
	}
	if l.refs[v]--; l.refs[v] == 0 {
		l.drop(v)
	}
}

// drop frees the number of a value. The next record carries the release.
func (l *Log) drop(v tl.Value) {
	l.free = append(l.free, v)
	switch {
	case l.gone[0] == 0:
		l.gone[0] = v
	case l.gone[1] == 0:
		l.gone[1] = v
	default:
		l.next(By{}).kind = recDrop
		l.gone[0] = v
	}
}

// LoadBy is Load of a whole value, which it makes, by an agent whose number is known.
func (l *Log) LoadBy(o By, n int32, t dtype.Type, a mem.Addr) tl.Value {
	v := l.NewValue()
	x := l.next(o)
	x.kind, x.typ, x.n, x.dst, x.addr = recLoad, t, n, v, a
	return v
}

// Load records that n elements of memory become part of value dst, of total elements in
// all, from element off on.
func (l *Log) Load(o Origin, dst tl.Value, off, n, total int, t dtype.Type, a mem.Addr) {
	x := l.next(l.by(o))
	x.kind, x.typ, x.n, x.dst, x.addr = recLoad, t, int32(n), dst, a
	if n != total {
		l.with(x, rest{dstOff: int32(off), total: int32(total)})
	}
}

// StoreBy is Store by an agent whose number is known.
func (l *Log) StoreBy(o By, a mem.Addr, v tl.Value, off, n int32, t dtype.Type) {
	x := l.next(o)
	x.kind, x.typ, x.n, x.a, x.aOff, x.addr = recStore, t, n, v, off, a
}

// Store records that n elements of value v, from element off on, are visible at a.
func (l *Log) Store(o Origin, a mem.Addr, v tl.Value, off int32, n int, t dtype.Type) {
	l.StoreBy(l.by(o), a, v, off, int32(n), t)
}

// Combine records that operation by combines n elements at a with n elements of value v, from
// element off on: an atomic update.
func (l *Log) Combine(o Origin, a mem.Addr, v tl.Value, off int32, n int, t dtype.Type, by dtype.BinaryOp) {
	x := l.next(l.by(o))
	x.kind, x.sub, x.typ, x.n, x.a, x.aOff, x.addr = recCombine, uint8(by), t, int32(n), v, off, a
}

// Cast records that n elements of type t are made of the bytes of v, whose elements have type from.
// This is a receive without strict validation. It returns the value.
func (l *Log) Cast(o Origin, v tl.Value, off int32, from dtype.Type, n int, t dtype.Type) tl.Value {
	d := l.NewValue()
	x := l.next(l.by(o))
	x.kind, x.typ, x.from, x.n, x.dst, x.a, x.aOff = recCast, t, from, int32(n), d, v, off
	return d
}

// BinaryBy records arithmetic on two operands of n elements each, from elements aOff and bOff of
// their values on. It returns the value that the operation makes.
func (l *Log) BinaryBy(o By, op dtype.BinaryOp, t dtype.Type, n int32, a tl.Value, aOff int32, b tl.Value, bOff int32) tl.Value {
	d := l.NewValue()
	x := l.next(o)
	x.kind, x.math, x.sub, x.typ, x.from = recMath, tl.MathBinary, uint8(op), t, t
	x.n, x.dst, x.a, x.b, x.aOff, x.bOff = n, d, a, b, aOff, bOff
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
		return Operand{tl.DriverOf(c).Cell(i).Value, tl.DriverOf(c).Cell(i).Off}
	}
	return l.MathOf(o, in, operand(in.A), operand(in.B), operand(in.C))
}

// MathOf is Math of operands that the caller has looked up.
func (l *Log) MathOf(o Origin, in *tl.Instr, a, b, c Operand) tl.Value {
	aOff, bOff := a.Off+in.AOff, b.Off+in.BOff
	if in.Op == tl.OpMath && in.Math == tl.MathBinary && in.Axis == 1 && in.Inner == 1 {
		return l.BinaryBy(l.by(o), in.Binary, in.Type, int32(in.N), a.Value, aOff, b.Value, bOff)
	}
	d := l.NewValue()
	x := l.next(l.by(o))
	x.kind, x.math, x.sub, x.typ, x.from = recMath, in.Math, uint8(in.Binary), in.Type, in.Type
	x.n, x.dst, x.a, x.b, x.aOff, x.bOff = int32(in.N), d, a.Value, b.Value, aOff, bOff
	switch {
	case in.Op == tl.OpGemm:
		x.kind = recGemm
	case in.Math == tl.MathConvert:
		x.from = dtype.Type(in.Outer)
	case in.Math == tl.MathUnary:
		x.sub = uint8(in.Unary)
	}
	l.with(x, rest{
		c: c.Value, cOff: c.Off + in.COff,
		outer: int32(in.Outer), axis: int32(in.Axis), inner: int32(in.Inner), f: in.Scalar, g: in.Scalar2,
	})
	return d
}
