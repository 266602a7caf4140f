package race

import "kernbench/mem"

// table maps the high bits of addresses to entries of type T. It caches entries, because a rank
// alternates between pages of its own and of its peers.
type table[T any] struct {
	touch func(*T) // writes a new entry, since fresh memory that is read first faults twice
	all   map[mem.Addr]*T
	cache []entry[T] // by cacheIndex
}

type entry[T any] struct {
	key   mem.Addr
	value *T // nil: no entry
}

// cacheBits is log2 of the number of cached entries.
const cacheBits = 13

func newTable[T any](touch func(*T)) table[T] {
	return table[T]{touch: touch, all: map[mem.Addr]*T{}, cache: make([]entry[T], 1<<cacheBits)}
}

// clear removes all entries.
func (t *table[T]) clear() {
	clear(t.all)
	clear(t.cache)
}

// cacheIndex returns the index of a key in the cache. The high bits of a key are the PE, the low
// bits the offset in its memory. So the key is hashed.
func cacheIndex(key mem.Addr) uint64 { return (uint64(key) * 0x9e3779b97f4a7c15) >> (64 - cacheBits) }

// at returns the entry of a key, and creates it if it is missing.
func (t *table[T]) at(key mem.Addr) *T {
	e := &t.cache[cacheIndex(key)]
	if e.value != nil && e.key == key {
		return e.value
	}
	p := t.all[key]
	if p == nil {
		p = new(T)
		t.touch(p)
		t.all[key] = p
	}
	*e = entry[T]{key, p}
	return p
}
