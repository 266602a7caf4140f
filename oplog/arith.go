package oplog

import (
	"errors"
	"fmt"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/tl"
)

var errUnwritten = errors.New("never written")

// math performs an arithmetic record and decides what it does to provenance: the
// collective's own operation merges contributors, a change of type keeps them, the
// division of an average is permitted once, anything else is opaque.
func (r *replay) math(x *record) {
	t, n := x.typ, x.n
	d := r.make(x.dst, int(n)*t.Size())
	v := &r.values[x.dst]
	switch x.math {
	case tl.MathBinary:
		r.binary(x, d)
		return
	case tl.MathBinaryScalar:
		a := r.src(x.a, t, x.aOff, n)
		dtype.BinaryScalar(x.binary, t, d, a, x.f)
		r.infinity(x, d, a)
		r.pa = collective.Slice(r.pa[:0], r.values[x.a].prov, int(x.aOff), int(n))
		if s := r.scope(x); s.averages(x) {
			v.prov = collective.Scale(v.prov[:0], r.pa, s.world, r.cause(x))
		} else {
			v.prov = collective.Obscure(v.prov[:0], r.pa, r.cause(x))
		}
		return
	case tl.MathConvert:
		a := r.src(x.a, x.from, x.aOff, n)
		dtype.Convert(t, x.from, d, a)
		v.prov = collective.Slice(v.prov[:0], r.values[x.a].prov, int(x.aOff), int(n))
		collective.Round(v.prov)
		return
	case tl.MathFill:
		dtype.Fill(t, d, x.f)
		if s := r.scope(x); s.combining && collective.Neutral(s.op, t, x.f) {
			v.prov = collective.MakeNeutral(v.prov[:0], int(n))
		} else {
			v.prov = collective.MakeConstant(v.prov[:0], int(n))
		}
		return
	case tl.MathTranspose:
		transpose(d, r.src(x.a, t, x.aOff, n), t.Size(), int(x.outer), int(x.axis))
	case tl.MathUnary:
		a := r.src(x.a, t, x.aOff, n)
		dtype.Unary(x.unary, t, d, a)
		r.infinity(x, d, a)
		r.obscure(x, v)
		return
	case tl.MathFMA:
		a, b, c := r.src(x.a, t, x.aOff, n), r.src(x.b, t, x.bOff, n), r.src(x.c, t, x.cOff, n)
		dtype.FMA(t, d, a, b, c)
		r.infinity(x, d, a, b, c)
	case tl.MathClamp:
		dtype.Clamp(t, d, r.src(x.a, t, x.aOff, n), x.f, x.g)
		r.obscure(x, v)
		return
	case tl.MathReduce:
		dtype.ReduceAxis(x.binary, t, d, r.src(x.a, t, x.aOff, x.outer*x.axis*x.inner), int(x.outer), int(x.axis), int(x.inner))
	case tl.MathSoftmax:
		dtype.Softmax(t, d, r.src(x.a, t, x.aOff, n), int(x.outer), int(x.axis), int(x.inner))
	case tl.MathRowAdd:
		row := r.src(x.b, t, x.bOff, x.inner)
		a := r.src(x.a, t, x.aOff, n)
		for i := 0; i < len(d); i += len(row) {
			dtype.Binary(dtype.Add, t, d[i:i+len(row)], a[i:i+len(row)], row)
		}
	}
	v.prov = collective.MakeOpaque(v.prov[:0], int(n), r.cause(x))
}

// obscure gives the result of an elementwise operation on A that no collective permits
// its provenance: opaque by it, or by what made the operand so before.
func (r *replay) obscure(x *record, v *value) {
	r.pa = collective.Slice(r.pa[:0], r.values[x.a].prov, int(x.aOff), int(x.n))
	v.prov = collective.Obscure(v.prov[:0], r.pa, r.cause(x))
}

func (r *replay) binary(x *record, d []byte) {
	t, n := x.typ, x.n
	na, nb := n, n
	if x.axis == 0 {
		na = 1
	}
	if x.inner == 0 {
		nb = 1
	}
	a, b := r.src(x.a, t, x.aOff, na), r.src(x.b, t, x.bOff, nb)
	v := &r.values[x.dst]
	if na != nb {
		// A single element against many: spread it out first.
		if na == 1 {
			a = spread(a, int(n))
		} else {
			b = spread(b, int(n))
		}
		dtype.Binary(x.binary, t, d, a, b)
		r.infinity(x, d, a, b)
		v.prov = collective.MakeOpaque(v.prov[:0], int(n), r.cause(x))
		return
	}
	dtype.Binary(x.binary, t, d, a, b)
	r.infinity(x, d, a, b)
	pa, pb := r.values[x.a].prov, r.values[x.b].prov
	if x.aOff != 0 || pa.Len() != int(n) {
		r.pa = collective.Slice(r.pa[:0], pa, int(x.aOff), int(n))
		pa = r.pa
	}
	if x.bOff != 0 || pb.Len() != int(n) {
		r.pb = collective.Slice(r.pb[:0], pb, int(x.bOff), int(n))
		pb = r.pb
	}
	if s := r.scope(x); s.combining && collective.Combines(s.op, x.binary) {
		v.prov = r.hasher.Merge(v.prov[:0], pa, pb, r.cause(x))
		return
	}
	v.prov = collective.Obscure(v.prov[:0], pa, r.cause(x))
}

// averages recognises the one scaling that an average may do: by 1/N.
func (s scope) averages(x *record) bool {
	return s.combining && collective.Scales(collective.Call{World: s.world, Type: x.typ, Op: s.op}, x.binary, x.f)
}

func spread(one []byte, n int) []byte {
	all := make([]byte, 0, n*len(one))
	for range n {
		all = append(all, one...)
	}
	return all
}

func transpose(dst, src []byte, size, rows, cols int) {
	for i := range rows {
		for j := range cols {
			copy(dst[(j*rows+i)*size:(j*rows+i+1)*size], src[(i*cols+j)*size:])
		}
	}
}

// cause is the id under which an element made opaque by x names it: without explain mode
// the kind of operation, with it the rank and line too.
func (r *replay) cause(x *record) int32 {
	if !r.opts.Explain {
		return int32(x.kind)<<16 | int32(x.math)<<8 | int32(x.binary)<<4 | int32(x.unary)
	}
	k := causeKey{x.rank, x.line, x.kind, x.math, x.binary, x.unary}
	i, ok := r.causeIndex[k]
	if !ok {
		i = int32(len(r.causes))
		r.causeIndex[k] = i
		r.causes = append(r.causes, *x)
	}
	return causeBase + i
}

type causeKey struct {
	rank, line int32
	kind       kind
	math       tl.MathOp
	binary     dtype.BinaryOp
	unary      dtype.UnaryOp
}

// causeBase keeps the two forms of cause apart.
const causeBase = 1 << 20

func (r *replay) why(id int32, lines []string) string {
	if i := int(id - causeBase); i >= 0 && i < len(r.causes) {
		return r.placeOf(&r.causes[i], lines).String()
	}
	x := record{kind: kind(id >> 16), math: tl.MathOp(id >> 8), binary: dtype.BinaryOp(id >> 4 & 15), unary: dtype.UnaryOp(id & 15)}
	return x.name()
}

func (r *replay) overflow(lines []string) string {
	if r.infinite == nil {
		return ""
	}
	return fmt.Sprintf("%v overflowed %v at element %d", r.placeOf(r.infinite, lines), r.infinite.typ, r.infiniteAt)
}

// fault is the first record that could not be performed, as the error of its place.
func (r *replay) fault(lines []string) error {
	if r.badErr == nil {
		return nil
	}
	p := r.placeOf(r.bad, lines)
	if errors.Is(r.badErr, errUnwritten) {
		return &fault.Unwritten{Place: p, Addr: r.bad.addr.String(), First: r.unwritten}
	}
	if r.bad.accesses() {
		return &fault.BadAddress{Place: p, Addr: r.bad.addr.String(), Bytes: int64(r.bad.n) * int64(r.bad.typ.Size()), Reason: r.badErr.Error()}
	}
	return fmt.Errorf("%v: %w", p, r.badErr)
}

// accesses tells whether a record that could not be performed is an access to memory.
func (x *record) accesses() bool {
	switch x.kind {
	case recLoad, recStore, recCombine:
		return true
	case recBeginTurn, recEndTurn:
		return x.typ.Valid() // it is at one of its pieces
	}
	return false
}

var mathNames = [...]string{
	tl.MathFMA: "fma", tl.MathClamp: "clamp", tl.MathReduce: "reduce", tl.MathSoftmax: "softmax",
	tl.MathConvert: "convert", tl.MathFill: "full", tl.MathRowAdd: "row add", tl.MathTranspose: "transpose",
}

// name is the operation in the words of the kernel API.
func (x *record) name() string {
	switch x.kind {
	case recLoad:
		return "load"
	case recStore:
		return "store"
	case recCombine:
		return "combine (" + x.binary.String() + ")"
	case recGemm:
		return "dot"
	case recCast:
		return "recv as " + x.typ.String() + " of " + x.from.String()
	case recBeginTurn:
		return "begin_turn"
	case recEndTurn:
		return "end_turn"
	}
	switch x.math {
	case tl.MathBinary:
		return x.binary.String()
	case tl.MathBinaryScalar:
		return "scale (" + x.binary.String() + ")"
	case tl.MathUnary:
		return x.unary.String()
	}
	if int(x.math) < len(mathNames) && mathNames[x.math] != "" {
		return mathNames[x.math]
	}
	return fmt.Sprintf("operation %d", x.math)
}
