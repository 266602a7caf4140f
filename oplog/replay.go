package oplog

import (
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/tl"
)

// replay performs records on bytes and provenance.
type replay struct {
	opts   Options
	memory memory
	hasher *collective.Hasher
	values []value
	pool   [40][][]byte // buffers by binary logarithm of their capacity

	whole scope // of the run: the collective between recBegin and recEnd
	turns turns

	pa, pb, pc collective.Prov // operands' provenance and a result's, reused
	before     []byte          // what memory held before it was combined, reused
	bad        *record         // first record that could not be performed
	badErr     error
	unwritten  int     // its first never-written element
	infinite   *record // first record that overflowed
	infiniteAt int
	causes     []record // explain mode: operations that may have made elements opaque
	causeIndex map[causeKey]int32
	audit      *audit // nil: nobody asks
}

// value is the contents of a tensor.
type value struct {
	buf   []byte
	prov  collective.Prov
	trees []Tree // with an audit
}

func newReplay(o Options) *replay {
	r := &replay{opts: o, hasher: collective.NewHasher(o.Seed, o.Explain), causeIndex: map[causeKey]int32{}}
	if o.Audit {
		r.audit = new(audit)
	}
	return r
}

// run replays a segment. A panic in here is a defect of this program: it becomes an
// error of the run rather than the end of the process.
func (r *replay) run(s segment) {
	var at *record
	defer func() {
		if p := recover(); p != nil && r.badErr == nil {
			bad := *at
			r.bad, r.badErr = &bad, fmt.Errorf("internal error in replay: %v\n%s", p, debug.Stack())
		}
	}()
	for i := range s.recs {
		at = &s.recs[i]
		if r.badErr != nil && at.kind != recDrop {
			continue
		}
		r.perform(at, s.turns)
		if r.audit != nil && r.badErr == nil {
			r.follow(at)
		}
	}
}

func (r *replay) perform(x *record, list []*tl.Turn) {
	switch x.kind {
	case recLoad:
		r.load(x)
	case recStore:
		r.store(x)
	case recMath:
		r.math(x)
	case recGemm:
		d := r.make(x.dst, int(x.n)*x.typ.Size())
		a, b := r.src(x.a, x.typ, x.aOff, x.outer*x.axis), r.src(x.b, x.typ, x.bOff, x.axis*x.inner)
		dtype.Dot(x.typ, d, a, b, int(x.outer), int(x.axis), int(x.inner))
		v := &r.values[x.dst]
		v.prov = collective.MakeOpaque(v.prov[:0], int(x.n), r.cause(x))
	case recCast:
		d := r.make(x.dst, int(x.n)*x.typ.Size())
		copy(d, r.values[x.a].buf[int(x.aOff)*x.from.Size():])
		v := &r.values[x.dst]
		v.prov = collective.MakeOpaque(v.prov[:0], int(x.n), r.cause(x))
	case recCombine:
		r.combine(x)
	case recDrop:
		r.drop(x.a)
	case recBegin:
		r.whole = scope{true, x.op, int(x.total)}
	case recEnd:
		r.whole.combining = false
	case recBeginTurn:
		r.beginTurn(x, list[x.n])
	case recEndTurn:
		r.endTurn(x, list[x.n])
	}
}

func (r *replay) fail(x *record, err error) {
	if r.badErr == nil {
		bad := *x
		r.bad, r.badErr = &bad, err
	}
}

func (r *replay) load(x *record) {
	p, off, err := r.memory.at(x.addr, x.typ, int(x.n))
	if err != nil {
		r.fail(x, err)
		r.part(x.dst, x)
		return
	}
	if i := firstUnwritten(p.prov, off, int(x.n)); i >= 0 {
		r.unwritten = i
		r.fail(x, errUnwritten)
	}
	copy(r.part(x.dst, x), p.bytes(off, int(x.n)))
	r.pa = collective.Slice(r.pa[:0], p.prov, off, int(x.n))
	if x.turn != 0 && r.turns.hidden > 0 {
		r.pa = r.seen(x, r.pa)
	}
	r.place(x, r.pa)
}

func (r *replay) store(x *record) {
	p, off, err := r.memory.at(x.addr, x.typ, int(x.n))
	if err != nil {
		r.fail(x, err)
		return
	}
	copy(p.data[off*x.typ.Size():], r.src(x.a, x.typ, x.aOff, x.n))
	src := r.values[x.a].prov
	if int(x.aOff) != 0 || src.Len() != int(x.n) {
		r.pa = collective.Slice(r.pa[:0], src, int(x.aOff), int(x.n))
		src = r.pa
	}
	p.prov = collective.Overwrite(p.prov, off, src)
}

// src is n elements of a value from off on.
func (r *replay) src(v tl.Value, t dtype.Type, off, n int32) []byte {
	s := t.Size()
	return r.values[v].buf[int(off)*s : int(off+n)*s]
}

// make gives value v a buffer of n bytes.
func (r *replay) make(v tl.Value, n int) []byte {
	for int(v) >= len(r.values) {
		r.values = append(r.values, value{})
	}
	k := bits.Len(uint(max(n, 16) - 1))
	var buf []byte
	if f := r.pool[k]; len(f) > 0 {
		buf, r.pool[k] = f[len(f)-1], f[:len(f)-1]
	} else {
		buf = make([]byte, 1<<k)
	}
	r.values[v].buf = buf[:n]
	return buf[:n]
}

// part is the elements of a value that is filled piece by piece which a record fills.
func (r *replay) part(v tl.Value, x *record) []byte {
	s := x.typ.Size()
	if int(v) >= len(r.values) || r.values[v].buf == nil {
		r.make(v, int(x.total)*s)
		r.values[v].prov = r.values[v].prov[:0]
		if x.n != x.total {
			r.values[v].prov = collective.MakeUnwritten(r.values[v].prov, int(x.total))
		}
	}
	return r.values[v].buf[int(x.dstOff)*s : int(x.dstOff+x.n)*s]
}

// place gives the elements that a record fills their provenance.
func (r *replay) place(x *record, src collective.Prov) {
	v := &r.values[x.dst]
	if x.n == x.total {
		v.prov = append(v.prov[:0], src...)
		return
	}
	v.prov = collective.Overwrite(v.prov, int(x.dstOff), src)
}

func (r *replay) drop(v tl.Value) {
	if int(v) >= len(r.values) || r.values[v].buf == nil {
		return
	}
	b := r.values[v].buf
	k := bits.Len(uint(cap(b) - 1))
	r.pool[k] = append(r.pool[k], b)
	r.values[v].buf = nil
}

// infinity looks, in explain mode, for the first overflow: an infinity made of operands
// that had none.
func (r *replay) infinity(x *record, out []byte, operands ...[]byte) {
	if !r.opts.Explain || r.infinite != nil || !x.typ.IsFloat() {
		return
	}
	i := dtype.FirstNonFinite(x.typ, out)
	if i < 0 || math.IsNaN(dtype.At(x.typ, out, i)) {
		return
	}
	for _, o := range operands {
		if dtype.FirstNonFinite(x.typ, o) >= 0 {
			return
		}
	}
	first := *x
	r.infinite, r.infiniteAt = &first, i
}

func (r *replay) placeOf(x *record, lines []string) fault.Place {
	p := fault.Place{Rank: int(x.rank), Op: x.name(), Time: x.time, Timed: r.opts.Timed}
	if r.opts.PEName != nil {
		p.PE = r.opts.PEName(int(x.pe))
	}
	if int(x.line) < len(lines) {
		p.Line = lines[x.line]
	}
	if x.call > 0 && int(x.call) < len(lines) {
		p.Op = lines[x.call]
	}
	return p
}
