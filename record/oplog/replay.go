package oplog

import (
	"fmt"
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
	values values
	rests  []rest // of the records that are performed
	asked  byte   // results of foresee's reads, so that the compiler keeps them

	whole scope // of the run: the collective between recBegin and recEnd
	turns turns

	pa, pb, pc, pd collective.Prov // operands' provenance and a result's, reused
	before         []byte          // memory before it was combined, reused
	bad            *record         // first record that could not be performed
	badErr         error
	unwritten      int                 // its first never-written element
	untimed        bool                // its time is unknown
	overflows      map[int32]*overflow // explain mode: the first of each turn, of 0 that of recBegin
	causes         []record            // explain mode: operations that may have made elements opaque
	causeIndex     map[causeKey]int32
	audit          *audit // nil: additions are not audited
}

func newReplay(o Options) *replay {
	r := &replay{opts: o, hasher: collective.NewHasher(o.Seed, o.Explain), causeIndex: map[causeKey]int32{},
		overflows: map[int32]*overflow{}}
	if o.Audit {
		r.audit = new(audit)
	}
	return r
}

// run applies a segment. A panic in here is a defect of kernbench, and becomes an error of the run.
func (r *replay) run(s *segment) {
	var at *record
	defer func() {
		if p := recover(); p != nil && r.badErr == nil {
			r.fail(at, fmt.Errorf("internal error in replay: %v\n%s", p, debug.Stack()))
		}
	}()
	r.rests = s.rests
	for lo := 0; lo < len(s.recs); lo += foresight {
		few := s.recs[lo:min(lo+foresight, len(s.recs))]
		r.foresee(few)
		for i := range few {
			at = &few[i]
			if at.gone[0] != 0 {
				r.values.drop(at.gone[0])
				if at.gone[1] != 0 {
					r.values.drop(at.gone[1])
				}
			}
			if r.badErr != nil {
				continue
			}
			r.perform(at, s.turns)
			if r.audit != nil && r.badErr == nil {
				r.growTrees(at)
			}
		}
	}
}

// foresight is the number of records whose memory is prefetched together. In a run of many ranks
// that memory is not in the cache.
const foresight = 16

// longForesight is the number of bytes prefetched per record. The processor prefetches the rest
// itself.
const longForesight, cacheLine = 512, 64

// foresee prefetches the memory of the next records.
func (r *replay) foresee(recs []record) {
	seen := byte(0)
	for i := range recs {
		x := &recs[i]
		if x.kind != recLoad && x.kind != recStore {
			continue
		}
		p := r.memory.hit(x.addr)
		if p == nil || p.data == nil {
			continue
		}
		seen += byte(p.prov[0].N)
		lo := int(x.addr - p.base)
		for at := lo; at < min(lo+int(x.n)*x.typ.Size(), lo+longForesight, len(p.data)); at += cacheLine {
			seen += p.data[at]
		}
	}
	r.asked = seen
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
		m := r.rest(x)
		v, d := r.make(x)
		a, b := r.src(x.a, x.typ, x.aOff, m.outer*m.axis), r.src(x.b, x.typ, x.bOff, m.axis*m.inner)
		dtype.Dot(x.typ, d, a, b, int(m.outer), int(m.axis), int(m.inner))
		v.prov = collective.MakeOpaque(v.prov, int(x.n), r.cause(x))
	case recCast:
		v, d := r.make(x)
		copy(d, r.values.at(x.a).buf[int(x.aOff)*x.from.Size():])
		v.prov = collective.MakeOpaque(v.prov, int(x.n), r.cause(x))
	case recCombine:
		r.combine(x)
	case recBegin:
		r.whole = scope{true, tl.ReduceOp(x.sub), int(x.n)}
		delete(r.overflows, 0)
	case recEnd:
		r.whole.combining = false
	case recBeginTurn:
		r.beginTurn(x, list[x.n])
	case recEndTurn:
		r.endTurn(x, list[x.n])
	}
}

// rest returns the rest of a record.
func (r *replay) rest(x *record) *rest { return &r.rests[x.rest] }

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
		return
	}
	if !r.written(x, p, off, int(x.n)) {
		return
	}
	v := r.values.at(x.dst)
	data := p.bytes(off, int(x.n))
	shared := x.turn != 0 && r.turns.hidden > 0
	if x.rest == 0 && !shared {
		copy(r.values.make(v, len(data)), data)
		v.prov = collective.Slice(v.prov, p.prov, off, int(x.n))
		return
	}
	r.pa = collective.Slice(r.pa[:0], p.prov, off, int(x.n))
	if shared {
		r.pa = r.seen(x, r.pa)
	}
	if x.rest == 0 {
		copy(r.values.make(v, len(data)), data)
		v.prov = append(v.prov, r.pa...)
		return
	}
	m, size := r.rest(x), x.typ.Size()
	if v.buf == nil { // the first part
		r.values.make(v, int(m.total)*size)
		v.prov = collective.MakeUnwritten(v.prov, int(m.total))
	}
	copy(v.buf[int(m.dstOff)*size:], data)
	v.prov = collective.Overwrite(v.prov, int(m.dstOff), r.pa)
}

func (r *replay) store(x *record) {
	p, off, err := r.memory.at(x.addr, x.typ, int(x.n))
	if err != nil {
		r.fail(x, err)
		return
	}
	v := r.values.at(x.a)
	copy(p.bytes(off, int(x.n)), v.elems(x.typ, x.aOff, x.n))
	p.prov = collective.Overwrite(p.prov, off, v.labels(&r.pa, x.aOff, x.n))
	if r.opts.Explain {
		r.wrote(p, off, int(x.n), x)
	}
}

// src returns n elements of a value from off on.
func (r *replay) src(v tl.Value, t dtype.Type, off, n int32) []byte {
	return r.values.at(v).elems(t, off, n)
}

// make allocates the buffer of the value that a record makes.
func (r *replay) make(x *record) (*value, []byte) {
	v := r.values.at(x.dst)
	return v, r.values.make(v, int(x.n)*x.typ.Size())
}

// placeOf returns the place of a record.
func (l *Log) placeOf(x *record) fault.Place {
	w := l.performers[x.origin]
	p := fault.Place{Rank: int(w.rank), Op: x.name(), Time: x.time, Timed: l.opts.Timed && !l.rep.untimed, Line: l.lines[w.line]}
	if l.opts.PEName != nil {
		p.PE = l.opts.PEName(int(w.pe))
	}
	if w.call != 0 {
		p.Op = l.lines[w.call]
	}
	return p
}
