package oplog

import (
	"kernbench/collective"
	"kernbench/dtype"
)

// Vector is the contents of a tensor on each rank of a lockstep; the zero Vector has no elements.
// It does not change, and is shared with a reference count.
type Vector struct {
	*column
	senders *Senders // nil: rank r has vector r
	off     int32
}

// column holds a vector of each rank, with its provenance.
type column struct {
	size  int // bytes of each
	bytes []byte
	runs  []collective.Run  // of each vector of one run, as most are
	more  []collective.Prov // of the others; nil: there are none
	held  int
}

// Senders maps each rank to the sender of its messages: rank r receives from rank of[r].
type Senders struct {
	of   []int32
	held int
}

// NewSenders makes a Senders that is not recycled.
func NewSenders(of []int32) *Senders { return &Senders{of, 1} }

// column allocates memory for each rank.
func (u *Lockstep) column(size int) *column {
	if f := u.free[size]; len(f) > 0 {
		c := f[len(f)-1]
		u.free[size] = f[:len(f)-1]
		c.held, c.more = 1, nil
		return c
	}
	n := len(u.by)
	return &column{size: size, bytes: make([]byte, size*n), runs: make([]collective.Run, n), held: 1}
}

// put sets the provenance of the vector of rank r.
func (c *column) put(r int, p collective.Prov) {
	if len(p) == 1 {
		c.runs[r] = p[0]
		return
	}
	if c.more == nil {
		c.more = make([]collective.Prov, len(c.runs))
	}
	c.more[r] = append(c.more[r], p...)
}

// rank returns the number of the vector that rank r has.
func (v *Vector) rank(r int) int {
	if v.senders != nil {
		return int(v.senders.of[r])
	}
	return r
}

// elems returns the first n elements of rank r, or also those of the ranks after it.
func (v *Vector) elems(r int, t dtype.Type, n int32) []byte {
	size := t.Size()
	from := v.rank(r)*v.size + int(v.off)*size
	return v.bytes[from : from+int(n)*size]
}

// labels returns the provenance of the first n elements of rank r, in scratch unless they are all.
func (v *Vector) labels(r int, scratch *collective.Prov, n int32) collective.Prov {
	r = v.rank(r)
	p := collective.Prov(v.runs[r : r+1 : r+1])
	if v.more != nil && v.more[r] != nil {
		p = v.more[r]
	} else if p[0].N == n {
		return p
	}
	*scratch = collective.Slice((*scratch)[:0], p, int(v.off), int(n))
	return *scratch
}

// run returns the number of ranks from r on that have consecutive vectors.
func (v *Vector) run(r int) int {
	if v.senders == nil {
		return len(v.runs) - r
	}
	of, n := v.senders.of[r:], 1
	for n < len(of) && of[n] == of[n-1]+1 {
		n++
	}
	return n
}

// From returns the part of the vector from element off on.
func (v Vector) From(off int32) Vector {
	if v.column != nil {
		v.column.held++
	}
	if v.senders != nil {
		v.senders.held++
	}
	v.off += off
	return v
}

// Cut returns n elements of v, on each rank from its own first element on.
func (u *Lockstep) Cut(v Vector, from []int32, t dtype.Type, n int32) Vector {
	c := u.column(int(n) * t.Size())
	for r, off := range from {
		part := v
		part.off += off
		copy(c.bytes[r*c.size:], part.elems(r, t, n))
		c.put(r, part.labels(r, &u.rep.pa, n))
	}
	return Vector{column: c}
}

// Release frees v: no operand refers to it any more.
func (u *Lockstep) Release(v Vector) {
	if v.column == nil {
		return
	}
	u.leave(v.senders)
	if v.column.held--; v.column.held == 0 {
		u.free[v.size] = append(u.free[v.size], v.column)
	}
}

// Came returns the vector that each rank receives when all ranks send v, and releases v.
func (u *Lockstep) Came(v Vector, w *Senders) Vector {
	if v.column == nil {
		return v
	}
	before := v.senders
	if before == nil {
		w.held++
		v.senders = w
		return v
	}
	if n := len(u.senders); n > 0 {
		v.senders, u.senders = u.senders[n-1], u.senders[:n-1]
	} else {
		v.senders = &Senders{of: make([]int32, len(w.of))}
	}
	v.senders.held = 1
	for r, from := range w.of {
		v.senders.of[r] = before.of[from]
	}
	u.leave(before)
	return v
}

// leave drops a reference to a Senders.
func (u *Lockstep) leave(w *Senders) {
	if w == nil {
		return
	}
	if w.held--; w.held == 0 {
		u.senders = append(u.senders, w)
	}
}
