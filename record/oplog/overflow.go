package oplog

import (
	"fmt"
	"math"
	"strings"

	"kernbench/collective"
	"kernbench/dtype"
)

// overflow is the first operation of a collective that made an infinity or a NaN of finite
// operands.
type overflow struct {
	record   record
	element  int
	operands []float64 // of that element
	got      float64
	terms    int32 // contributions in that element; 0: none, or unknown
	index    int64 // their first index, where terms is not 0
}

// overflow finds, in explain mode, the first infinity or NaN that record x made of finite operands
// of type from. prov is the provenance of the result, nil if no collective permits x.
func (r *replay) overflow(x *record, out []byte, prov collective.Prov, from dtype.Type, operands ...[]byte) {
	if !r.opts.Explain || r.overflows[x.turn] != nil {
		return
	}
	for lo, size := 0, x.typ.Size(); ; lo++ {
		i := dtype.FirstNonFinite(x.typ, out[lo*size:])
		if i < 0 {
			return
		}
		lo += i
		if !allFinite(from, lo, operands) {
			continue
		}
		o := &overflow{record: *x, element: lo, got: dtype.At(x.typ, out, lo)}
		for _, operand := range operands {
			o.operands = append(o.operands, dtype.At(from, operand, lo))
		}
		if prov != nil {
			at := prov.At(lo)
			o.terms, o.index = at.Count, at.Base
		}
		r.overflows[x.turn] = o
		return
	}
}

// allFinite reports whether element i of each operand is finite.
func allFinite(t dtype.Type, i int, operands [][]byte) bool {
	for _, operand := range operands {
		if !finite(t, operand, i) {
			return false
		}
	}
	return true
}

// Overflow describes the first operation that made an infinity or a NaN of finite operands. It
// searches the turns of a number or, with 0, the collective that began last. It returns the place,
// the operands, and the partial sum of the element. It is empty if there is none, or outside
// explain mode.
func (l *Log) Overflow(turn int32) string {
	o := l.rep.overflows[turn]
	if o == nil {
		return ""
	}
	const most = 3 // operands that are named
	var operands []string
	for _, v := range o.operands[:min(most, len(o.operands))] {
		operands = append(operands, fmt.Sprintf("%.9g", v))
	}
	if more := len(o.operands) - most; more > 0 {
		operands = append(operands, fmt.Sprintf("%d more numbers", more))
	}
	s := fmt.Sprintf("%v makes %g of %s in %v", l.placeOf(&o.record), o.got, and(operands), o.record.typ)
	if o.terms == 0 {
		return s + fmt.Sprintf(", element %d", o.element)
	}
	terms := fmt.Sprint(o.terms)
	if o.terms == math.MaxInt32 { // where counting ends
		terms = "at least " + terms
	}
	return s + fmt.Sprintf(", element %d, the partial result of %s contributions", o.index, terms)
}

// and joins words with commas and "and".
func and(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
