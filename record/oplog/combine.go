package oplog

import (
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

// combine performs an update of memory. Its provenance is that of the same arithmetic on tensors.
// Memory that holds the neutral element of the collective's operation is the exception: it counts
// as an empty accumulator.
func (r *replay) combine(x *record) {
	n := int(x.n)
	p, off, err := r.memory.at(x.addr, x.typ, n)
	if err != nil {
		r.fail(x, err)
		return
	}
	if !r.written(x, p, off, n) {
		return
	}
	data := p.bytes(off, n)
	r.before = append(r.before[:0], data...)
	src := r.src(x.a, x.typ, x.aOff, x.n)
	dtype.Binary(x.binary(), x.typ, data, r.before, src)
	r.pa = collective.Slice(r.pa[:0], p.prov, off, n)
	if s := r.scope(x); s.combining && collective.Combines(s.op, x.binary()) {
		r.pb = collective.Slice(r.pb[:0], r.values.at(x.a).prov, int(x.aOff), n)
		r.pc = r.neutral(r.pc[:0], s.op, x.typ)
		r.pa = r.hasher.Merge(r.pa[:0], r.pc, r.pb, r.cause(x))
	} else {
		r.pc = collective.Obscure(r.pc[:0], r.pa, r.cause(x))
		r.pa = append(r.pa[:0], r.pc...)
	}
	if r.opts.Explain {
		r.overflow(x, data, r.pa, x.typ, r.before, src)
		r.wrote(p, off, n, x)
	}
	p.prov = collective.Overwrite(p.prov, off, r.pa)
}

// neutral extends dst by r.pa, the provenance of the elements in r.before. Constants that do not
// change the result of op of the collective are marked as such.
func (r *replay) neutral(dst collective.Prov, op tl.ReduceOp, t dtype.Type) collective.Prov {
	at := 0
	for _, run := range r.pa {
		lo := at
		at += int(run.N)
		if run.Kind != collective.Constant {
			dst = collective.Append(dst, run)
			continue
		}
		for i := lo; i < at; i++ {
			if collective.Neutral(op, t, dtype.At(t, r.before, i)) {
				dst = collective.MakeNeutral(dst, 1)
			} else {
				dst = collective.MakeConstant(dst, 1)
			}
		}
	}
	return dst
}
