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

// math performs an arithmetic record and its effect on provenance. The collective's own operation
// merges contributors, a change of type keeps them, and the division of an average is permitted
// once. All other operations make the result opaque.
func (r *replay) math(x *record) {
	t, n, m := x.typ, x.n, r.rest(x)
	v, d := r.make(x)
	switch x.math {
	case tl.MathBinary:
		r.elementwise(x, v, d)
		return
	case tl.MathBinaryScalar:
		a := r.src(x.a, t, x.aOff, n)
		dtype.BinaryScalar(x.binary(), t, d, a, m.f)
		r.pa = collective.Slice(r.pa[:0], r.values.at(x.a).prov, int(x.aOff), int(n))
		if s := r.scope(x); s.averages(x, m.f) {
			v.prov = collective.Scale(v.prov, r.pa, s.world, r.cause(x))
		} else {
			v.prov = collective.Obscure(v.prov, r.pa, r.cause(x))
		}
		r.overflow(x, d, v.prov, t, a)
		return
	case tl.MathConvert:
		a := r.src(x.a, x.from, x.aOff, n)
		dtype.Convert(t, x.from, d, a)
		v.prov = collective.Slice(v.prov, r.values.at(x.a).prov, int(x.aOff), int(n))
		collective.Round(v.prov)
		r.overflow(x, d, v.prov, x.from, a)
		return
	case tl.MathFill:
		dtype.Fill(t, d, m.f)
		if s := r.scope(x); s.combining && collective.Neutral(s.op, t, m.f) {
			v.prov = collective.MakeNeutral(v.prov, int(n))
		} else {
			v.prov = collective.MakeConstant(v.prov, int(n))
		}
		return
	case tl.MathTranspose:
		transpose(d, r.src(x.a, t, x.aOff, n), t.Size(), int(m.outer), int(m.axis))
		r.pa = collective.Slice(r.pa[:0], r.values.at(x.a).prov, int(x.aOff), int(n))
		v.prov = collective.Transpose(v.prov, r.pa, int(m.outer), int(m.axis))
		return
	case tl.MathUnary:
		a := r.src(x.a, t, x.aOff, n)
		dtype.Unary(dtype.UnaryOp(x.sub), t, d, a)
		r.makeOpaque(x, v)
		r.overflow(x, d, v.prov, t, a)
		return
	case tl.MathFMA:
		a, b, c := r.src(x.a, t, x.aOff, n), r.src(x.b, t, x.bOff, n), r.src(m.c, t, m.cOff, n)
		dtype.FMA(t, d, a, b, c)
		r.overflow(x, d, nil, t, a, b, c)
	case tl.MathClamp:
		dtype.Clamp(t, d, r.src(x.a, t, x.aOff, n), m.f, m.g)
		r.makeOpaque(x, v)
		return
	case tl.MathReduce:
		r.along(x, v, d)
		return
	case tl.MathSoftmax:
		dtype.Softmax(t, d, r.src(x.a, t, x.aOff, n), int(m.outer), int(m.axis), int(m.inner))
	case tl.MathRowAdd:
		row := r.src(x.b, t, x.bOff, m.inner)
		a := r.src(x.a, t, x.aOff, n)
		for i := 0; i < len(d); i += len(row) {
			dtype.Binary(dtype.Add, t, d[i:i+len(row)], a[i:i+len(row)], row)
			r.overflow(x, d[i:i+len(row)], nil, t, a[i:i+len(row)], row)
		}
	}
	v.prov = collective.MakeOpaque(v.prov, int(n), r.cause(x))
}

// makeOpaque sets the provenance of an elementwise operation on A that no collective permits. It is
// opaque, caused by this operation or by an earlier one on the operand.
func (r *replay) makeOpaque(x *record, v *value) {
	r.pa = collective.Slice(r.pa[:0], r.values.at(x.a).prov, int(x.aOff), int(x.n))
	v.prov = collective.Obscure(v.prov, r.pa, r.cause(x))
}

// along combines the elements along an axis. It merges contributions as the same operation on two
// operands does.
func (r *replay) along(x *record, v *value, d []byte) {
	m, t := r.rest(x), x.typ
	outer, axis, inner := int(m.outer), int(m.axis), int(m.inner)
	a := r.src(x.a, t, x.aOff, int32(outer*axis*inner))
	dtype.ReduceAxis(x.binary(), t, d, a, outer, axis, inner)
	if s := r.scope(x); s.combining && collective.Combines(s.op, x.binary()) {
		r.pa = collective.Slice(r.pa[:0], r.values.at(x.a).prov, int(x.aOff), outer*axis*inner)
		v.prov = r.hasher.MergeAxis(v.prov, neutral(&r.pc, r.pa, a, s.op, t), outer, axis, inner, r.cause(x))
	} else {
		v.prov = collective.MakeOpaque(v.prov, int(x.n), r.cause(x))
	}
	if r.opts.Explain {
		r.overflow(x, d, v.prov, t, slabs(a, t.Size(), outer, axis, inner)...)
	}
}

// slabs returns the elements of a vector of the shape [outer, axis, inner] by their place along the
// axis. Each place has elements of the shape [outer, inner].
func slabs(a []byte, size, outer, axis, inner int) [][]byte {
	all := make([][]byte, axis)
	row := inner * size
	for i := range outer * axis {
		all[i%axis] = append(all[i%axis], a[i*row:(i+1)*row]...)
	}
	return all
}

// elementwise is the arithmetic of two operands. One of them may be a single element.
func (r *replay) elementwise(x *record, v *value, d []byte) {
	t, n := x.typ, x.n
	va, vb := r.values.at(x.a), r.values.at(x.b)
	if x.rest != 0 {
		if m := r.rest(x); m.axis == 0 != (m.inner == 0) && n != 1 {
			var a, b []byte
			if m.axis == 0 {
				a, b = spread(va.elems(t, x.aOff, 1), int(n)), vb.elems(t, x.bOff, n)
			} else {
				a, b = va.elems(t, x.aOff, n), spread(vb.elems(t, x.bOff, 1), int(n))
			}
			dtype.Binary(x.binary(), t, d, a, b)
			v.prov = collective.MakeOpaque(v.prov, int(n), r.cause(x))
			r.overflow(x, d, v.prov, t, a, b)
			return
		}
	}
	a, b := va.elems(t, x.aOff, n), vb.elems(t, x.bOff, n)
	dtype.Binary(x.binary(), t, d, a, b)
	pa, pb := va.labels(&r.pa, x.aOff, n), vb.labels(&r.pb, x.bOff, n)
	if s := r.scope(x); s.combining && collective.Combines(s.op, x.binary()) {
		pa, pb = neutral(&r.pc, pa, a, s.op, t), neutral(&r.pd, pb, b, s.op, t)
		v.prov = r.hasher.Merge(v.prov, pa, pb, r.cause(x))
	} else {
		v.prov = collective.Obscure(v.prov, pa, r.cause(x))
	}
	if r.opts.Explain {
		r.overflow(x, d, v.prov, t, a, b)
	}
}

// averages reports whether a scaling is the one that an average permits: by 1/N.
func (s scope) averages(x *record, by float64) bool {
	return s.combining && collective.Scales(collective.Call{World: s.world, Type: x.typ, Op: s.op}, x.binary(), by)
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

// cause returns the id of operation x in the elements that it made opaque: the kind of operation,
// and in explain mode its origin too.
func (r *replay) cause(x *record) int32 {
	if !r.opts.Explain {
		op := int32(x.sub) << 4
		if x.unary() {
			op = int32(x.sub)
		}
		return int32(x.kind)<<16 | int32(x.math)<<8 | op
	}
	k := causeKey{x.origin, x.kind, x.math, x.sub}
	i, ok := r.causeIndex[k]
	if !ok {
		i = int32(len(r.causes))
		r.causeIndex[k] = i
		r.causes = append(r.causes, *x)
	}
	return causeBase + i
}

type causeKey struct {
	origin OriginID
	kind   kind
	math   tl.MathOp
	sub    uint8
}

// causeBase separates the two forms of cause.
const causeBase = 1 << 20

func (x *record) unary() bool { return x.kind == recMath && x.math == tl.MathUnary }

// Why explains the operation that made an element opaque, or wrote it last.
func (l *Log) Why(id int32) string {
	if i := int(id - causeBase); i >= 0 && i < len(l.rep.causes) {
		p := l.placeOf(&l.rep.causes[i])
		if l.rep.causes[i].accesses() {
			p.Timed = false // several writes share a cause, and this is the first
		}
		return p.String()
	}
	x := record{kind: kind(id >> 16), math: tl.MathOp(id >> 8), sub: uint8(id >> 4 & 15)}
	if x.unary() {
		x.sub = uint8(id & 15)
	}
	return x.name()
}

// fault returns the error of the first record that could not be performed, with its place.
func (l *Log) fault() error {
	x, err := l.rep.bad, l.rep.badErr
	if err == nil {
		return nil
	}
	p := l.placeOf(x)
	if errors.Is(err, errUnwritten) {
		return &fault.Unwritten{Place: p, Addr: x.addr.String(), Name: l.nameOf(x.addr), First: l.rep.unwritten}
	}
	if x.accesses() {
		return &fault.BadAddress{
			Place: p, Addr: x.addr.String(), At: uint64(x.addr), Bytes: int64(x.n) * int64(x.typ.Size()), Reason: err.Error(),
		}
	}
	return fmt.Errorf("%v: %w", p, err)
}

// accesses reports whether a record that could not be performed is an access to memory.
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
	tl.MathFMA: "fma", tl.MathClamp: "clamp", tl.MathSoftmax: "softmax",
	tl.MathConvert: "convert", tl.MathFill: "full", tl.MathRowAdd: "row add", tl.MathTranspose: "transpose",
}

// name returns the name of the operation in the kernel API.
func (x *record) name() string {
	switch x.kind {
	case recLoad:
		return "load"
	case recStore:
		return "store"
	case recCombine:
		return "combine (" + x.binary().String() + ")"
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
		switch op := x.binary(); op {
		case dtype.Max:
			return "maximum"
		case dtype.Min:
			return "minimum"
		default:
			return op.String()
		}
	case tl.MathReduce:
		switch op := x.binary(); op {
		case dtype.Add:
			return "sum"
		case dtype.Mul:
			return "prod"
		default:
			return op.String()
		}
	case tl.MathBinaryScalar:
		return "scale (" + x.binary().String() + ")"
	case tl.MathUnary:
		return dtype.UnaryOp(x.sub).String()
	}
	if int(x.math) < len(mathNames) && mathNames[x.math] != "" {
		return mathNames[x.math]
	}
	return fmt.Sprintf("operation %d", x.math)
}
