package tl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
)

// Tensor is a handle to values that a PE holds: the result of a load, of arithmetic, or
// a received message. It is a small value; copying it copies no data. Values never
// change: arithmetic makes new tensors.
type Tensor struct {
	cell  int32
	gen   uint32
	off   int32
	pe    int32 // PE that owns it
	shape Shape
	n     int32 // elements
	seq   uint32
	dtype dtype.Type
	// A tensor in a ring slot remembers which message it was, so that a late use can name
	// the receive that ended it.
	slot bool
	port uint8
}

// Shape returns the tensor's extents.
func (t Tensor) Shape() Shape { return t.shape }

// DType returns the element type.
func (t Tensor) DType() dtype.Type { return t.dtype }

// Len returns the number of elements.
func (t Tensor) Len() int { return int(t.n) }

// Bytes returns the size of the values.
func (t Tensor) Bytes() int64 { return int64(t.Len()) * int64(t.dtype.Size()) }

// Slice returns a view of elements [lo, lo+n) in row-major order, as a vector. It panics when
// they are not within t.
func (t Tensor) Slice(lo, n int) Tensor {
	if lo < 0 || n < 0 || n > t.Len()-lo {
		panic(fmt.Sprintf("Slice(%d, %d) of a tensor of %d elements", lo, n, t.Len()))
	}
	t.off += int32(lo)
	t.shape, t.n = vector(n), int32(n)
	return t
}

// Reshape returns the same elements with other extents. It panics when their number differs.
func (t Tensor) Reshape(d ...int) Tensor {
	s := Dims(d...)
	if s.Elems() != t.Len() {
		panic(fmt.Sprintf("Reshape(%v) of a tensor of shape %v", s, t.shape))
	}
	t.shape = s
	return t
}

// describe returns the form in which errors name shapes: f16[8].
func describe(t dtype.Type, s Shape) string { return t.String() + s.String() }

// Ref names values in memory without moving them: an address (virtual, or physical from
// mem.At) with the shape and type that lie there.
type Ref struct {
	Addr  mem.Addr
	Shape Shape
	DType dtype.Type
}

// Len returns the number of elements.
func (r Ref) Len() int { return r.Shape.Elems() }

// Bytes returns the size of the values.
func (r Ref) Bytes() int64 { return int64(r.Len()) * int64(r.DType.Size()) }

// Slice is elements [lo, lo+n) as a vector. It panics when they are not within r.
func (r Ref) Slice(lo, n int) Ref {
	if lo < 0 || n < 0 || n > r.Len()-lo {
		panic(fmt.Sprintf("Slice(%d, %d) of a reference to %d elements", lo, n, r.Len()))
	}
	return Ref{r.Addr + mem.Addr(lo*r.DType.Size()), vector(n), r.DType}
}

// Chunk is part i of parts, as mem.ChunkOf splits.
func (r Ref) Chunk(parts, i int) Ref {
	c := mem.ChunkOf(r.Len(), parts, i)
	return r.Slice(c.Lo, c.N)
}

// Split is Chunk for kernels that use many of the parts: it divides only once.
func (r Ref) Split(parts int) *Split {
	return &Split{of: r, parts: parts, each: r.Len() / parts, longer: r.Len() % parts}
}

// Split names the parts of values in memory.
type Split struct {
	of                  Ref
	parts, each, longer int // the first ones are longer by an element
}

// Chunk is part i. It panics when there is none.
func (s *Split) Chunk(i int) Ref {
	if uint(i) >= uint(s.parts) {
		panic(fmt.Sprintf("Chunk(%d) of %d", i, s.parts))
	}
	lo, n := i*s.each+i, s.each+1
	if i >= s.longer {
		lo, n = i*s.each+s.longer, s.each
	}
	return Ref{s.of.Addr + mem.Addr(lo*s.of.DType.Size()), vector(n), s.of.DType}
}
