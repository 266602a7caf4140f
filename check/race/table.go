package race

import "kernbench/mem"

// table is a map from the higher bits of addresses. It caches the latest entries, because a rank
// touches pages of its own and of its peers in turn.
type table[T any] struct {
	all    map[mem.Addr]*T
	lately []entry[T]
}

type entry[T any] struct {
	key mem.Addr
	of  *T // nil: no entry
}

// lately is the number of cached entries.
const lately = 1 << 10

func newTable[T any]() table[T] {
	return table[T]{all: map[mem.Addr]*T{}, lately: make([]entry[T], lately)}
}

// clear takes all out.
func (t *table[T]) clear() {
	clear(t.all)
	clear(t.lately)
}

// known is the entry of a key, or nil.
func (t *table[T]) known(key mem.Addr) *T {
	e := &t.lately[placeOfKey(key)]
	if e.of != nil && e.key == key {
		return e.of
	}
	p := t.all[key]
	if p != nil {
		*e = entry[T]{key, p}
	}
	return p
}

// placeOfKey is the place of a key among the cached entries. Its higher bits are those of the PE,
// the lower ones those of the place in its memory.
func placeOfKey(key mem.Addr) uint64 { return (uint64(key) * 0x9e3779b97f4a7c15) >> 54 }

// at is the entry of a key, a new one if there was none.
func (t *table[T]) at(key mem.Addr) *T {
	e := &t.lately[placeOfKey(key)]
	if e.of != nil && e.key == key {
		return e.of
	}
	p := t.all[key]
	if p == nil {
		p = new(T)
		t.all[key] = p
	}
	*e = entry[T]{key, p}
	return p
}
