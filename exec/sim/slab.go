package sim

// slab is a table whose entries never move: it grows by blocks, and takes numbers again that were
// given up. Number 0 stands for none.
type slab[T any] struct {
	blocks [][]T
	used   uint32 // numbers so far
	free   []uint32
}

const slabBits = 8

// at is the entry with a number.
func (s *slab[T]) at(i uint32) *T { return &s.blocks[i>>slabBits][i&(1<<slabBits-1)] }

// put copies an entry into the table and returns its number.
func (s *slab[T]) put(v *T) uint32 {
	var i uint32
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.used++
		if i = s.used; int(i>>slabBits) == len(s.blocks) {
			s.blocks = append(s.blocks, make([]T, 1<<slabBits))
		}
	}
	*s.at(i) = *v
	return i
}

// each calls f with each entry in use.
func (s *slab[T]) each(f func(v *T)) {
	free := make([]bool, s.used+1)
	for _, i := range s.free {
		free[i] = true
	}
	for i := uint32(1); i <= s.used; i++ {
		if !free[i] {
			f(s.at(i))
		}
	}
}

// drop gives a number up.
func (s *slab[T]) drop(i uint32) { s.free = append(s.free, i) }
