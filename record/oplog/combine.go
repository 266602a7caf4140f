package oplog

import (
	"slices"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

// combine performs an update of memory. Its provenance is that of the same arithmetic on tensors.
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
		before := neutral(&r.pc, r.pa, r.before, s.op, x.typ)
		r.pd = r.hasher.Merge(r.pd[:0], before, r.pb, r.cause(x))
		r.pa, r.pd = r.pd, r.pa
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

// neutral returns p, the provenance of the elements in data, with some constants marked as neutral:
// those that do not change the result of op. So a zeroed accumulator of a sum has no contributions,
// wherever its zeros are from. The result is in scratch if it differs from p.
func neutral(scratch *collective.Prov, p collective.Prov, data []byte, op tl.ReduceOp, t dtype.Type) collective.Prov {
	if !slices.ContainsFunc(p, func(r collective.Run) bool { return r.Kind == collective.Constant }) {
		return p
	}
	dst, at := (*scratch)[:0], 0
	for _, run := range p {
		lo := at
		at += int(run.N)
		if run.Kind != collective.Constant {
			dst = collective.Append(dst, run)
			continue
		}
		for i := lo; i < at; i++ {
			if collective.Neutral(op, t, dtype.At(t, data, i)) {
				dst = collective.MakeNeutral(dst, 1)
			} else {
				dst = collective.MakeConstant(dst, 1)
			}
		}
	}
	*scratch = dst
	return dst
}
