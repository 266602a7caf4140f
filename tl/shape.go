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
	dim   [MaxDims]int32
	dims  uint8
	less1 int64 // elements less one, so that the zero Shape has one
}

// Dims makes a Shape. It panics on more than MaxDims or on negative extents, which no
// program can mean.
func Dims(d ...int) Shape {
	if len(d) > MaxDims {
		panic("tl.Dims: at most 4 dimensions")
	}
	s := Shape{dims: uint8(len(d))}
	for i, n := range d {
		if n < 0 || n > 1<<31-1 {
			panic("tl.Dims: extent " + strconv.Itoa(n) + " out of range")
		}
		s.dim[i] = int32(n)
	}
	return s.counted()
}

// counted fills in the number of elements. It stops at 2^31, which is more than any
// tensor has.
func (s Shape) counted() Shape {
	n := int64(1)
	for i := range s.dims {
		n = min(n*int64(s.dim[i]), 1<<31)
	}
	s.less1 = n - 1
	return s
}

// Len is the number of dimensions.
func (s Shape) Len() int { return int(s.dims) }

// Dim is the extent of dimension i; a negative i counts from the last.
func (s Shape) Dim(i int) int {
	if i < 0 {
		i += int(s.dims)
	}
	return int(s.dim[i])
}

// Elems is the number of elements.
func (s Shape) Elems() int { return int(s.less1) + 1 }

// split is the shape seen from one axis: elements before, along and after it.
func (s Shape) split(axis int) (outer, n, inner int) {
	outer, inner = 1, 1
	for i := range int(s.dims) {
		switch {
		case i < axis:
			outer *= int(s.dim[i])
		case i > axis:
			inner *= int(s.dim[i])
		}
	}
	return outer, int(s.dim[axis]), inner
}

// without drops one axis.
func (s Shape) without(axis int) Shape {
	r := Shape{dims: s.dims - 1}
	k := 0
	for i := range int(s.dims) {
		if i != axis {
			r.dim[k] = s.dim[i]
			k++
		}
	}
	return r.counted()
}

func (s Shape) String() string {
	parts := make([]string, s.dims)
	for i := range parts {
		parts[i] = strconv.Itoa(int(s.dim[i]))
	}
	return "[" + strings.Join(parts, " ") + "]"
}
