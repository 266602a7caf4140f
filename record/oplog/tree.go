package oplog

import (
	"encoding/binary"
	"math"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// Tree describes the additions of contributions that made an element.
type Tree struct {
	Terms  uint32 // contributions in it, each as often as it was added
	Height uint32 // the most roundings of any contribution
	// Growth bounds the relative change of a contribution by its roundings, to first order. It is
	// the largest sum of unit roundoffs that any contribution met, in units of 2^-53 (that of f64).
	Growth uint64
}

// Event is the place of an operation, and the element of its result at which something happened.
type Event struct {
	Place   fault.Place
	Element int
}

// Audit counts the effects of rounding in all operations of a log. It needs Options.Audit.
type Audit struct {
	Additions int64 // of two elements that both have contributions
	Stalled   int64 // of those, the additions that change nothing although neither operand is 0

	FirstStalled *Event // nil: there is none
	Overflow     *Event // the first operation that made an infinity or a NaN of finite operands
}

// audit keeps a tree for every element.
type audit struct {
	sum      Audit
	stalled  record // that of sum.FirstStalled
	infinite record
	trees    [][]Tree // of values; a tl.Value is the index
}

// of returns the trees of a value.
func (a *audit) of(v tl.Value) *[]Tree {
	for int(v) >= len(a.trees) {
		a.trees = append(a.trees, nil)
	}
	return &a.trees[v]
}

// grown returns memory for the trees of a value of n elements. Old trees may still be in it.
func (a *audit) grown(v tl.Value, n int32) []Tree {
	t := a.of(v)
	if cap(*t) < int(n) {
		*t = make([]Tree, n)
	}
	*t = (*t)[:n]
	return *t
}

// Audit returns the counts so far.
func (l *Log) Audit() Audit {
	l.settle()
	a := l.rep.audit
	sum := a.sum
	place := func(e *Event, x *record) *Event {
		if e == nil {
			return nil
		}
		return &Event{l.placeOf(x), e.Element}
	}
	sum.FirstStalled, sum.Overflow = place(sum.FirstStalled, &a.stalled), place(sum.Overflow, &a.infinite)
	return sum
}

// Trees returns the trees of n elements of memory, valid until the next launch.
func (l *Log) Trees(a mem.Addr, t dtype.Type, n int) ([]Tree, error) {
	if err := l.Flush(); err != nil {
		return nil, err
	}
	p, off, err := l.at(a, t, n)
	if err != nil {
		return nil, err
	}
	return p.treesOf(off, n), nil
}

// roundoff returns the unit roundoff of a type in units of 2^-53, that of f64, or 0 for integers.
func roundoff(t dtype.Type) uint64 { return uint64(dtype.Epsilon(t) * 0x1p53) }

// treesOf returns the trees of n elements from off on. They are made at their first use.
func (p *piece) treesOf(off, n int) []Tree {
	if p.trees == nil {
		p.trees = make([]Tree, p.size/p.typ.Size())
	}
	return p.trees[off : off+n]
}

// mark sets the trees of n elements of memory to t: one contribution each, or none.
func (r *replay) mark(p *piece, off, n int, t Tree) {
	if r.audit == nil {
		return
	}
	for i := range p.treesOf(off, n) {
		p.trees[off+i] = t
	}
}

// growTrees updates the trees of the elements that a record has just written.
func (r *replay) growTrees(x *record) {
	switch x.kind {
	case recLoad:
		if p, off, err := r.memory.at(x.addr, x.typ, int(x.n)); err == nil {
			m := *r.rest(x)
			if x.rest == 0 {
				m.total = x.n
			}
			copy(r.audit.grown(x.dst, m.total)[m.dstOff:], p.treesOf(off, int(x.n)))
		}
	case recStore:
		if p, off, err := r.memory.at(x.addr, x.typ, int(x.n)); err == nil {
			copy(p.treesOf(off, int(x.n)), (*r.audit.of(x.a))[x.aOff:])
		}
	case recCombine:
		if p, off, err := r.memory.at(x.addr, x.typ, int(x.n)); err == nil {
			to := p.treesOf(off, int(x.n))
			r.join(x, to, to, (*r.audit.of(x.a))[x.aOff:], p.bytes(off, int(x.n)), r.before, r.src(x.a, x.typ, x.aOff, x.n))
		}
	case recMath:
		r.growMathTrees(x)
	case recCast, recGemm:
		clear(r.audit.grown(x.dst, x.n))
	}
}

func (r *replay) growMathTrees(x *record) {
	to := r.audit.grown(x.dst, x.n)
	out := r.values.at(x.dst).buf
	switch x.math {
	case tl.MathBinary:
		na, nb := x.n, x.n // an operand may be one element for the whole result
		if m := r.rest(x); x.rest != 0 && m.axis == 0 {
			na = 1
		} else if x.rest != 0 && m.inner == 0 {
			nb = 1
		}
		a, b := (*r.audit.of(x.a))[x.aOff:x.aOff+na], (*r.audit.of(x.b))[x.bOff:x.bOff+nb]
		if na != nb {
			clear(to) // collectives never combine contributions with one element
			return
		}
		r.join(x, to, a, b, out, r.src(x.a, x.typ, x.aOff, na), r.src(x.b, x.typ, x.bOff, nb))
	case tl.MathBinaryScalar:
		copy(to, (*r.audit.of(x.a))[x.aOff:])
		rounded(to, x.typ)
		r.findOverflow(x, x.typ, out, r.src(x.a, x.typ, x.aOff, x.n))
	case tl.MathConvert:
		copy(to, (*r.audit.of(x.a))[x.aOff:])
		if dtype.Epsilon(x.typ) > dtype.Epsilon(x.from) {
			rounded(to, x.typ)
		}
		r.findOverflow(x, x.from, out, r.src(x.a, x.from, x.aOff, x.n))
	case tl.MathReduce:
		r.growAxisTrees(x, to, out)
	case tl.MathTranspose:
		m, from := r.rest(x), (*r.audit.of(x.a))[x.aOff:]
		rows, cols := int(m.outer), int(m.axis)
		for i := range to {
			to[i] = from[i%rows*cols+i/rows]
		}
	default:
		clear(to)
	}
}

// growAxisTrees makes the trees of elements that were combined along an axis. Elements are summed
// in f64, or in f32 for 16-bit types, with one rounding to the type at the end. These additions are
// not counted: their partial sums are not kept, so a stalled addition cannot be seen.
func (r *replay) growAxisTrees(x *record, to []Tree, out []byte) {
	m := r.rest(x)
	outer, axis, inner := int(m.outer), int(m.axis), int(m.inner)
	from := (*r.audit.of(x.a))[x.aOff:]
	within, last := roundoff(dtype.F64), roundoff(x.typ)
	if x.typ == dtype.F16 || x.typ == dtype.BF16 {
		within = roundoff(dtype.F32)
	}
	if x.typ == dtype.F64 {
		last = 0
	}
	rounds := x.typ.IsFloat() && x.binary() != dtype.Max && x.binary() != dtype.Min
	for i := range to {
		j, parts := Tree{}, 0
		for k := range axis {
			t := from[(i/inner*axis+k)*inner+i%inner]
			if t.Terms == 0 {
				continue
			}
			parts++
			j = Tree{addTerms(j.Terms, t.Terms), max(j.Height, t.Height), max(j.Growth, t.Growth)}
		}
		if rounds && parts > 1 {
			j.Height += uint32(parts - 1)
			j.Growth += uint64(parts-1)*within + last
			if last != 0 {
				j.Height++
			}
		}
		to[i] = j
	}
	size := x.typ.Size()
	a := r.src(x.a, x.typ, x.aOff, int32(outer*axis*inner))
	r.findOverflow(x, x.typ, out, slabs(a, size, outer, axis, inner)...)
}

// rounded counts one more rounding of contributions.
func rounded(trees []Tree, t dtype.Type) {
	u := roundoff(t)
	for i := range trees {
		if trees[i].Terms != 0 {
			trees[i].Height++
			trees[i].Growth += u
		}
	}
}

// join makes the trees of elements that were combined from two operands each. An operand without
// contributions counts as the constant with which an accumulator begins, and adds no rounding. If
// it is anything else, the check of provenance fails.
func (r *replay) join(x *record, to, a, b []Tree, out, left, right []byte) {
	u := roundoff(x.typ)
	if x.binary() == dtype.Max || x.binary() == dtype.Min {
		u = 0
	}
	sum := &r.audit.sum
	for i := range to {
		s, t := a[i], b[i]
		switch {
		case s.Terms == 0:
			to[i] = t
		case t.Terms == 0:
			to[i] = s
		default:
			j := Tree{addTerms(s.Terms, t.Terms), max(s.Height, t.Height), max(s.Growth, t.Growth) + u}
			if u != 0 {
				j.Height++
			}
			to[i] = j
			if x.binary() != dtype.Add {
				continue
			}
			sum.Additions++
			if stalls(x.typ, out, left, right, i) {
				if sum.Stalled++; sum.FirstStalled == nil {
					sum.FirstStalled, r.audit.stalled = &Event{Element: i}, *x
				}
			}
		}
	}
	r.findOverflow(x, x.typ, out, left, right)
}

func addTerms(a, b uint32) uint32 {
	if a > math.MaxUint32-b {
		return math.MaxUint32
	}
	return a + b
}

// stalls reports whether element i of a sum is one of its operands although the other is not 0.
func stalls(t dtype.Type, out, a, b []byte, i int) bool {
	var s, x, y, sign, exponent uint64 // the last two are masks
	switch t {
	case dtype.F16, dtype.BF16:
		sign, exponent = 1<<15, 0x7c00
		if t == dtype.BF16 {
			exponent = 0x7f80
		}
		s, x, y = uint64(binary.LittleEndian.Uint16(out[2*i:])), uint64(binary.LittleEndian.Uint16(a[2*i:])),
			uint64(binary.LittleEndian.Uint16(b[2*i:]))
	case dtype.F32:
		sign, exponent = 1<<31, 0x7f800000
		s, x, y = uint64(binary.LittleEndian.Uint32(out[4*i:])), uint64(binary.LittleEndian.Uint32(a[4*i:])),
			uint64(binary.LittleEndian.Uint32(b[4*i:]))
	case dtype.F64:
		sign, exponent = 1<<63, 0x7ff0000000000000
		s, x, y = binary.LittleEndian.Uint64(out[8*i:]), binary.LittleEndian.Uint64(a[8*i:]), binary.LittleEndian.Uint64(b[8*i:])
	default:
		return false
	}
	return s&exponent != exponent && (s == x && y&^sign != 0 || s == y && x&^sign != 0)
}

// findOverflow looks for the first infinity or NaN that was made of finite operands. from is the
// type of the operands.
func (r *replay) findOverflow(x *record, from dtype.Type, out []byte, operands ...[]byte) {
	if r.audit.sum.Overflow != nil {
		return
	}
	for lo := 0; ; {
		i := dtype.FirstNonFinite(x.typ, out[lo*x.typ.Size():])
		if i < 0 {
			return
		}
		i += lo
		if allFinite(from, i, operands) {
			r.audit.sum.Overflow, r.audit.infinite = &Event{Element: i}, *x
			return
		}
		lo = i + 1
	}
}

func finite(t dtype.Type, b []byte, i int) bool {
	size := t.Size()
	return dtype.FirstNonFinite(t, b[i*size:(i+1)*size]) < 0
}
