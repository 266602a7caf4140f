package collective

import "math"

// Merge extends dst by the elementwise union of the multisets of a and b, as the collective's own
// operation forms it. The lengths of a and b must be equal. why is the id of that operation, for
// elements that it makes opaque. Where the two sides differ in kind:
//
//	unwritten with anything     is unwritten: something read memory that was never written
//	opaque with the rest        is opaque, by the operation that came first
//	constant with the rest      is opaque, by this operation
//	scaled with unscaled        is opaque, by this operation
func (h *Hasher) Merge(dst, a, b Prov, why int32) Prov {
	if len(dst) == 0 && len(a) == 1 && len(b) == 1 && a[0].N == b[0].N {
		dst = append(dst, a[0])
		h.mergeInto(&dst[0], &b[0], why)
		return dst
	}
	var i, j int
	var doneA, doneB int32 // elements of a[i] and b[j] that were merged
	for i < len(a) && j < len(b) {
		n := min(a[i].N-doneA, b[j].N-doneB)
		r, s := a[i].part(doneA, n), b[j].part(doneB, n)
		h.mergeInto(&r, &s, why)
		dst = Append(dst, r)
		if doneA += n; doneA == a[i].N {
			i, doneA = i+1, 0
		}
		if doneB += n; doneB == b[j].N {
			j, doneB = j+1, 0
		}
	}
	if i < len(a) || j < len(b) {
		panic("collective: Merge of vectors of unequal length")
	}
	return dst
}

// MergeAxis extends dst by the unions along the middle axis of a, which is of the shape [outer,
// axis, inner]: Merge of all elements of the axis, one after the other.
func (h *Hasher) MergeAxis(dst, a Prov, outer, axis, inner int, why int32) Prov {
	var sum, next, row Prov
	for o := range outer {
		at := o * axis * inner
		sum = Slice(sum[:0], a, at, inner)
		for k := 1; k < axis; k++ {
			row = Slice(row[:0], a, at+k*inner, inner)
			next = h.Merge(next[:0], sum, row, why)
			sum, next = next, sum
		}
		dst = Concat(dst, sum)
	}
	return dst
}

// Transpose extends dst by the elements of a matrix in transposed order.
func Transpose(dst, a Prov, rows, cols int) Prov {
	if len(a) == 1 && !a[0].labelled() {
		return Concat(dst, a)
	}
	for j := range cols {
		for i := range rows {
			dst = Append(dst, a.At(i*cols+j))
		}
	}
	return dst
}

// mergeInto makes r the union of r and s, which have the same N.
func (h *Hasher) mergeInto(r, s *Run, why int32) {
	if r.Kind != Written || s.Kind != Written || r.Scaled != s.Scaled {
		mergeKinds(r, s, why)
		return
	}
	if r.Base != s.Base {
		h.rebase(r, s)
		return
	}
	if r.Set != nil || s.Set != nil {
		r.Set = union(r.Set, 0, s.Set, 0)
	}
	r.Hash = r.Hash.add(s.Hash)
	r.Count, r.Depth = addCount(r, s)
}

// addCount adds the contributors of two runs. Where both sides have some, the operation
// rounds once more.
func addCount(r, s *Run) (count int32, depth uint16) {
	depth = max(r.Depth, s.Depth)
	if r.Count != 0 && s.Count != 0 && depth != DepthMany {
		depth++
	}
	count = r.Count + s.Count
	if count < 0 {
		count = math.MaxInt32
	}
	return count, depth
}

// rebase is mergeInto for runs of different base: the smaller one becomes the base of
// both, which keeps the form canonical.
func (h *Hasher) rebase(r, s *Run) {
	switch {
	case s.Count == 0:
		return
	case r.Count == 0:
		n := r.N
		*r = *s
		r.N = n
		return
	}
	base := min(r.Base, s.Base)
	dr, ds := r.Base-base, s.Base-base
	if r.Set != nil || s.Set != nil {
		r.Set = union(r.Set, dr, s.Set, ds)
	}
	r.Hash = h.shift(r.Hash, dr).add(h.shift(s.Hash, ds))
	r.Count, r.Depth = addCount(r, s)
	r.Base = base
}

// mergeKinds is mergeInto where the result is not the union of multisets.
func mergeKinds(r, s *Run, why int32) {
	n := r.N
	switch {
	case r.Kind == Unwritten || s.Kind == Unwritten:
		*r = Run{Kind: Unwritten}
	case r.Kind == Opaque && s.Kind == Opaque:
		*r = Run{Kind: Opaque, Why: min(r.Why, s.Why)}
	case r.Kind == Opaque:
		*r = Run{Kind: Opaque, Why: r.Why}
	case s.Kind == Opaque:
		*r = Run{Kind: Opaque, Why: s.Why}
	case r.Kind == Constant || s.Kind == Constant:
		*r = Run{Kind: Opaque, Why: why}
	case s.Count == 0: // neutral: takes either scale
	case r.Count == 0:
		*r = *s
	default:
		*r = Run{Kind: Opaque, Why: why}
	}
	r.N = n
}

// Scale extends dst by a after the division of avg: by world, or times 1/world. It
// is permitted once; the second makes elements opaque, by operation why, and so does
// scaling a constant. With one rank it changes nothing, and may be left out.
func Scale(dst, a Prov, world int, why int32) Prov {
	if world == 1 {
		return Concat(dst, a)
	}
	for i := range a {
		r := a[i]
		switch {
		case r.Kind == Constant, r.Kind == Written && r.Scaled:
			r = Run{N: r.N, Kind: Opaque, Why: why}
		case r.Kind == Written && r.Count != 0:
			r.Scaled = true
			if r.Depth != DepthMany {
				r.Depth++
			}
		}
		dst = Append(dst, r)
	}
	return dst
}

// Obscure extends dst by the result of operation why on a, which the collective does not permit.
// Written and constant elements become opaque by it, and the others keep their first cause.
func Obscure(dst, a Prov, why int32) Prov {
	for i := range a {
		r := a[i]
		if r.Kind == Written || r.Kind == Constant {
			r = Run{N: r.N, Kind: Opaque, Why: why}
		}
		dst = Append(dst, r)
	}
	return dst
}
