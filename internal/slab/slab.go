// Package slab is a table whose entries never move, so that pointers to them hold.
//
// It may import nothing. Start at Table.
package slab

// Table has entries by number. It grows by blocks, and takes numbers again that were given up. When
// all have been given up, a large one gives its memory back. Number 0 means none. The zero Table is
// empty.
type Table[T any] struct {
	blocks [][]T
	used   uint32 // numbers so far
	free   []uint32
}

const blockBits = 8

// At returns the entry with a number.
func (s *Table[T]) At(i uint32) *T { return &s.blocks[i>>blockBits][i&(1<<blockBits-1)] }

// Put copies an entry into the table and returns its number.
func (s *Table[T]) Put(v *T) uint32 {
	var i uint32
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.used++
		if i = s.used; int(i>>blockBits) == len(s.blocks) {
			s.blocks = append(s.blocks, make([]T, 1<<blockBits))
		}
	}
	*s.At(i) = *v
	return i
}

// Each calls f with each entry in use.
func (s *Table[T]) Each(f func(v *T)) {
	free := make([]bool, s.used+1)
	for _, i := range s.free {
		free[i] = true
	}
	for i := uint32(1); i <= s.used; i++ {
		if !free[i] {
			f(s.At(i))
		}
	}
}

// large is from how many entries on an empty table gives its memory back.
const large = 1 << 14

// Drop gives a number up.
func (s *Table[T]) Drop(i uint32) {
	s.free = append(s.free, i)
	if s.used >= large && len(s.free) == int(s.used) {
		*s = Table[T]{}
	}
}
