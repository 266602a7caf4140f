package oplog

import (
	"kernbench/collective"
	"kernbench/mem"
	"kernbench/tl"
)

// Several collectives may share a contribution, since they only read it. Memory holds the labels of
// the one that began last. For each of the others the log keeps the labels that memory holds in
// place of its own. If memory holds another label, it was written.

// opened is a turn that has begun and not ended.
type opened struct {
	*CapturedTurn
	shown     collective.Prov // the labels of the contribution in memory; nil: the turn's own labels
	forgotten []span          // of the result: elements that were written before the turn
}

// own returns n of a turn's labels.
func (r *replay) own(dst collective.Prov, t *tl.Turn, first, n int) collective.Prov {
	return r.hasher.Own(dst, t.Label, int64(first), n)
}

// share replaces the labels in memory by those of a turn that begins.
func (r *replay) share(v *tl.Turn) {
	for t, o := range r.turns.open {
		common(t.In, v.In, func(tAt, vAt, n int, at mem.Addr) {
			p, off, err := r.memory.find(at, t.In[0].DType, n)
			if err != nil {
				return
			}
			if o.shown == nil {
				total := 0
				for _, ref := range t.In {
					total += ref.Len()
				}
				o.shown = r.own(nil, t, 0, total)
				r.turns.hidden++
			}
			shown := collective.Slice(nil, o.shown, tAt, n)
			held, labels := collective.Slice(nil, p.prov, off, n), r.own(nil, v, vAt, n)
			o.shown = collective.Overwrite(o.shown, tAt, collective.Replace(nil, shown, held, labels))
		})
	}
}

// seen returns the provenance of a load by a turn: memory, with the labels of other turns replaced
// by its own.
func (r *replay) seen(x *record, p collective.Prov) collective.Prov {
	load := []tl.Ref{{Addr: x.addr, Shape: tl.Dims(int(x.n)), DType: x.typ}}
	for t, o := range r.turns.open {
		if t.ID != x.turn || o.shown == nil {
			continue
		}
		common(t.In, load, func(tAt, at, n int, _ mem.Addr) {
			held, shown := collective.Slice(nil, p, at, n), collective.Slice(nil, o.shown, tAt, n)
			p = collective.Overwrite(p, at, collective.Replace(nil, held, shown, r.own(nil, t, tAt, n)))
		})
	}
	return p
}

// common returns the overlap of two lists of memory, each of one PE: n elements, at an offset in
// each list.
func common(a, b []tl.Ref, found func(inA, inB, n int, at mem.Addr)) {
	if len(a) == 0 || len(b) == 0 || a[0].Addr.Unit() != b[0].Addr.Unit() {
		return
	}
	inA := 0
	for _, x := range a {
		inB, size := 0, mem.Addr(x.DType.Size())
		for _, y := range b {
			lo := max(x.Addr, y.Addr)
			hi := min(x.Addr+mem.Addr(x.Len())*size, y.Addr+mem.Addr(y.Len())*mem.Addr(y.DType.Size()))
			if lo < hi && y.DType.Size() == x.DType.Size() {
				found(inA+int((lo-x.Addr)/size), inB+int((lo-y.Addr)/size), int((hi-lo)/size), lo)
			}
			inB += y.Len()
		}
		inA += x.Len()
	}
}
