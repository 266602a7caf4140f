package routes

import "math/bits"

// Invariant of this file: a route reads the same, hop by hop, however it is stored. A route is a
// front and a tail. Fronts that end alike share their ends, and so do tails. So a table has the
// hops from each source to where fronts end, and from there to each destination. That is less than
// a path for each pair of nodes.

// Shared finds stored ends again. The zero Shared is empty.
type Shared struct {
	index []uint32 // by hash of a hop and of what follows it: where in Table.Hops; 0: free
	used  int
}

// AddShared stores a path so that it shares what it can with those stored so before. It returns the
// same route for the same path and front. The front is the number of its first hops, at least 1.
func (t *Table) AddShared(s *Shared, path []Hop, front int) Route {
	if len(path) == 0 {
		return Route{}
	}
	return Route{At: t.sharedPart(s, path[:front]), Then: t.sharedPart(s, path[front:])}
}

// sharedPart returns where a part of a path is stored; 0: an empty one.
func (t *Table) sharedPart(s *Shared, part []Hop) (at uint32) {
	for i := len(part) - 1; i >= 0; i-- {
		at = t.shared(s, part[i], at)
	}
	return at
}

// shared returns where a hop is stored that another place follows; 0: none does.
func (t *Table) shared(s *Shared, h Hop, next uint32) uint32 {
	behind := end
	if next != 0 {
		behind = jump | Hop(next)
	}
	if 4*s.used >= 3*len(s.index) {
		t.rehash(s)
	}
	at := s.probe(t, h, behind)
	if *at == 0 {
		*at = uint32(len(t.Hops))
		s.used++
		t.Hops = append(t.Hops, h, behind)
	}
	return *at
}

// probe returns the entry of a hop and of what follows it, or the free one where it belongs.
func (s *Shared) probe(t *Table, h, behind Hop) *uint32 {
	k := (uint64(h)<<32 | uint64(behind)) * 0x9e3779b97f4a7c15
	k = (k ^ k>>32) * 0x9e3779b97f4a7c15 // the upper bits depend on all
	i, _ := bits.Mul64(k, uint64(len(s.index)))
	for {
		if at := &s.index[i]; *at == 0 || t.Hops[*at] == h && t.Hops[*at+1] == behind {
			return at
		}
		if i++; i == uint64(len(s.index)) {
			i = 0
		}
	}
}

// rehash makes the index a quarter larger: it can take tens of MiB.
func (t *Table) rehash(s *Shared) {
	old := s.index
	s.index = make([]uint32, max(256, len(old)+len(old)/4))
	for _, at := range old {
		if at != 0 {
			*s.probe(t, t.Hops[at], t.Hops[at+1]) = at
		}
	}
}
