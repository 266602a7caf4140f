package collective

import "math"

// Kind classifies the contents of an element: never written, a contribution, and so on.
type Kind uint8

// The kinds. The zero Kind is never-written memory, so that a zero Run is safe.
const (
	Unwritten Kind = iota // no instruction wrote it
	Written               // holds exactly the contributors of its multiset, perhaps none
	Constant              // written with a value without any contribution
	Opaque                // result of an operation that the collective does not permit
)

func (k Kind) String() string {
	switch k {
	case Unwritten:
		return "unwritten"
	case Written:
		return "written"
	case Constant:
		return "constant"
	}
	return "opaque"
}

// Run is a range of elements of equal structure: element j of the run holds the
// contributions (rank, Base+j+delta) of one multiset of (rank, delta).
//
// The form is canonical: Base is the smallest index among the contributors of the first
// element (so every delta is >= 0), and is 0 when there are none. Two elements hold the
// same multiset exactly if Base, Count and Hash agree, up to the collisions that Hasher
// describes.
type Run struct {
	N      int32 // elements in this run
	Count  int32 // contributors of each element, with multiplicity; at most the largest int32
	Why    int32 // for Opaque: the id of the operation that made it
	Kind   Kind
	Scaled bool   // the division of avg has been done
	Depth  uint16 // most roundings of any contribution to an element; 65535 stands for "many"
	Base   int64  // label index of the first element
	Hash   Hash
	Set    *Set // the explicit multiset, in explain mode
}

// DepthMany is the Depth at which counting ends.
const DepthMany = math.MaxUint16

// Prov is the provenance of a vector: its runs in order. Functions of this package that
// take a dst extend it as append does, joining runs of equal structure, and allocate
// only to grow it. dst must not share memory with the other arguments.
type Prov []Run

// Len returns the number of elements.
func (p Prov) Len() int {
	n := 0
	for i := range p {
		n += int(p[i].N)
	}
	return n
}

// labelled reports whether Base has a meaning.
func (r *Run) labelled() bool { return r.Count != 0 }

// Same reports whether the first elements of r and s have the same provenance.
func (r *Run) Same(s *Run) bool {
	return r.Kind == s.Kind && r.Count == s.Count && r.Hash == s.Hash && r.Base == s.Base &&
		r.Scaled == s.Scaled && r.Why == s.Why
}

// joins reports whether s continues r.
func (r *Run) joins(s *Run) bool {
	if r.Hash != s.Hash || r.Kind != s.Kind || r.Count != s.Count || r.Scaled != s.Scaled || r.Why != s.Why {
		return false
	}
	return (r.Count == 0 || r.Base+int64(r.N) == s.Base) && r.N <= math.MaxInt32-s.N
}

// part returns n elements of r from its element off on.
func (r *Run) part(off, n int32) Run {
	s := *r
	s.N = n
	if r.Count != 0 {
		s.Base += int64(off)
	}
	return s
}

// Append extends dst by one run.
func Append(dst Prov, r Run) Prov {
	if k := len(dst) - 1; k >= 0 && dst[k].joins(&r) {
		dst[k].N += r.N
		dst[k].Depth = max(dst[k].Depth, r.Depth)
		return dst
	}
	if r.N == 0 {
		return dst
	}
	return append(dst, r)
}

// Concat extends dst by the elements of src.
func Concat(dst, src Prov) Prov {
	if len(src) == 0 {
		return dst
	}
	dst = Append(dst, src[0]) // only the first run can join: those of src are joined already
	return append(dst, src[1:]...)
}

// fill extends dst by n elements like r, whose Base, if any, is that of the first.
func fill(dst Prov, r Run, n int) Prov {
	for n > math.MaxInt32 {
		r.N = math.MaxInt32
		dst = Append(dst, r)
		if r.labelled() {
			r.Base += math.MaxInt32
		}
		n -= math.MaxInt32
	}
	r.N = int32(n)
	return Append(dst, r)
}

// Own extends dst by the labels (rank, base) ... (rank, base+n-1): what a rank's input
// holds when the collective starts.
func (h *Hasher) Own(dst Prov, rank int, base int64, n int) Prov {
	r := Run{Kind: Written, Count: 1, Base: base, Hash: h.one(int32(rank))}
	if h.explain {
		r.Set = leaf(int32(rank))
	}
	return fill(dst, r, n)
}

// MakeUnwritten extends dst by n elements that were never written.
func MakeUnwritten(dst Prov, n int) Prov { return fill(dst, Run{Kind: Unwritten}, n) }

// MakeNeutral extends dst by n elements without contributors, such as a zeroed
// accumulator of a sum: merging it changes nothing. See Neutral.
func MakeNeutral(dst Prov, n int) Prov { return fill(dst, Run{Kind: Written}, n) }

// MakeConstant extends dst by n elements of a constant that is not neutral. Merging it
// makes an element opaque.
func MakeConstant(dst Prov, n int) Prov { return fill(dst, Run{Kind: Constant}, n) }

// MakeOpaque extends dst by n elements that operation why computed by a method that no collective
// means.
func MakeOpaque(dst Prov, n int, why int32) Prov {
	return fill(dst, Run{Kind: Opaque, Why: why}, n)
}

// Slice extends dst by elements off ... off+n-1 of p, which must exist.
func Slice(dst, p Prov, off, n int) Prov {
	if len(p) == 1 && n > 0 && off >= 0 && n <= int(p[0].N)-off {
		if len(dst) == 0 {
			dst = append(dst, p[0])
			r := &dst[0]
			r.N = int32(n)
			if r.Count != 0 {
				r.Base += int64(off)
			}
			return dst
		}
		return Append(dst, p[0].part(int32(off), int32(n)))
	}
	i, skip := p.find(off)
	for n > 0 {
		k := min(int(p[i].N)-skip, n)
		dst = Append(dst, p[i].part(int32(skip), int32(k)))
		n -= k
		skip = 0
		i++
	}
	return dst
}

// find returns the run of element off, and its place in that run.
func (p Prov) find(off int) (run, skip int) {
	i := 0
	for i < len(p) && off >= int(p[i].N) {
		off -= int(p[i].N)
		i++
	}
	return i, off
}

// At returns element i as a run of one element.
func (p Prov) At(i int) Run {
	k, skip := p.find(i)
	return p[k].part(int32(skip), 1)
}

// Equal reports whether p and q hold the same elements. Depth and Set do not count.
func Equal(p, q Prov) bool {
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i].N != q[i].N || !p[i].Same(&q[i]) {
			return false
		}
	}
	return true
}
