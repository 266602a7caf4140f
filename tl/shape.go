package tl

import (
	"strconv"
	"strings"
)

// MaxDims is the number of dimensions that a tensor can have.
const MaxDims = 4

// Shape is the extent of a tensor in each dimension, row-major. It is a value, so that
// making a tensor allocates nothing. The zero Shape is a scalar.
type Shape struct {
	lo, hi uint64 // two extents each, plus 1: 0 where there is no dimension
}

// Dims makes a Shape. It panics on more than MaxDims or on negative extents, which no
// program can mean.
func Dims(d ...int) Shape {
	if len(d) > MaxDims {
		panic("tl.Dims: at most 4 dimensions")
	}
	var e [MaxDims]uint32
	for i, n := range d {
		e[i] = extent(n)
	}
	return shapeOf(e)
}

func shapeOf(e [MaxDims]uint32) Shape {
	return Shape{uint64(e[0]) | uint64(e[1])<<32, uint64(e[2]) | uint64(e[3])<<32}
}

// vector is Dims of one extent.
func vector(n int) Shape { return Shape{lo: uint64(extent(n))} }

func extent(n int) uint32 {
	if uint(n) > 1<<31-1 {
		outOfRange(n)
	}
	return uint32(n) + 1
}

//go:noinline
func outOfRange(n int) { panic("tl.Dims: extent " + strconv.Itoa(n) + " out of range") }

func (s Shape) extents() [MaxDims]uint32 {
	return [...]uint32{uint32(s.lo), uint32(s.lo >> 32), uint32(s.hi), uint32(s.hi >> 32)}
}

// Len returns the number of dimensions.
func (s Shape) Len() int {
	n := 0
	for _, e := range s.extents() {
		if e > 0 {
			n++
		}
	}
	return n
}

// Dim returns the extent of dimension i; a negative i counts from the last.
func (s Shape) Dim(i int) int {
	if i < 0 {
		i += s.Len()
	}
	return max(0, int(s.extents()[i])-1)
}

// Elems returns the number of elements.
func (s Shape) Elems() int {
	if n := s.lo - 1; n < 1<<32-1 { // a vector
		return int(n)
	}
	return s.product()
}

// product stops at 2^31, which is more than any tensor has.
func (s Shape) product() int {
	n := 1
	for i := range s.Len() {
		n = min(n*s.Dim(i), 1<<31)
	}
	return n
}

// split returns the shape seen from one axis: elements before, along and after it.
func (s Shape) split(axis int) (outer, n, inner int) {
	outer, inner = 1, 1
	for i := range s.Len() {
		switch {
		case i < axis:
			outer *= s.Dim(i)
		case i > axis:
			inner *= s.Dim(i)
		}
	}
	return outer, s.Dim(axis), inner
}

// without drops one axis.
func (s Shape) without(axis int) Shape {
	e := s.extents()
	copy(e[axis:], e[axis+1:])
	e[MaxDims-1] = 0
	return shapeOf(e)
}

func (s Shape) String() string {
	parts := make([]string, s.Len())
	for i := range parts {
		parts[i] = strconv.Itoa(s.Dim(i))
	}
	return "[" + strings.Join(parts, " ") + "]"
}
