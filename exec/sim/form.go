package sim

import (
	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

// form is what tokens of one payload have in common, by the number that ops and tokens have.
type form struct {
	typ   dtype.Type
	shape tl.Shape
	n     int32 // elements
	per   int32 // of them in a slot
	parts int32

	bytes [2]int64     // of a part; of the last one
	wire  [2]int64     // those on the links
	tcm   [2]unit.Time // to copy them within TCM
}

// last tells parts apart: 1 for the last one, 0 for others.
func (f *form) last(part int32) int {
	if part+1 == f.parts {
		return 1
	}
	return 0
}

// elems is the number of elements of a part.
func (f *form) elems(part int32) int32 { return min(f.per, f.n-part*f.per) }

type formKey struct {
	typ   dtype.Type
	shape tl.Shape
}

// form is the number of the form of what is sent or received.
func (r *recorder) form(in *tl.Instr) uint32 {
	key := formKey{in.Type, in.Shape}
	e := &r.forms[(in.N^int(in.Type))&7]
	if e.id == 0 || e.key != key {
		e.key, e.id = key, r.w.formOf(key)
	}
	return e.id
}

// formOf looks a form up, or makes it. No form is number 0.
func (w *follow) formOf(k formKey) uint32 {
	id, ok := w.formIndex[k]
	if !ok {
		size, n := int64(k.typ.Size()), k.shape.Elems()
		f := form{typ: k.typ, shape: k.shape, n: int32(n), per: int32(w.ring.SlotElems(k.typ)), parts: int32(w.ring.Parts(n, k.typ))}
		f.bytes = [2]int64{int64(f.per) * size, int64(f.elems(f.parts-1)) * size}
		for i, b := range f.bytes {
			f.wire[i], f.tcm[i] = w.ring.Protocol.Wire(b), w.e.spec.TCM.Time(b)
		}
		id = uint32(len(w.made))
		w.made = append(w.made, f)
		w.formIndex[k] = id
	}
	return id
}
