package cause

import "math/bits"

// path is a node of a linked list: the last link of a path, and the path before it.
type path struct {
	before uint32
	link   uint32
}

// pathTable stores each path once. Number 0 is the empty path.
type pathTable struct {
	paths    []path
	freePath uint32   // list of unused numbers, by before
	index    []uint32 // by hash of a path: its number; 0: free
	indexed  int
}

// Extend returns a path with one more link at its end. Path 0 is empty.
func (t *pathTable) Extend(before uint32, link int) uint32 {
	if 4*t.indexed >= 3*len(t.index) {
		t.reindex(max(256, 2*len(t.index)))
	}
	p := path{before, uint32(link)}
	at := t.find(p)
	if *at != 0 {
		return *at
	}
	i := t.freePath
	if i != 0 {
		t.freePath = t.paths[i].before
		t.paths[i] = p
	} else {
		i = uint32(len(t.paths))
		t.paths = append(t.paths, p)
	}
	*at = i
	t.indexed++
	return i
}

// find returns the entry of a path in the index, or the free entry for it.
func (t *pathTable) find(p path) *uint32 {
	k := (uint64(p.before)<<32 | uint64(p.link)) * 0x9e3779b97f4a7c15
	k = (k ^ k>>32) * 0x9e3779b97f4a7c15 // the upper bits depend on all
	i, _ := bits.Mul64(k, uint64(len(t.index)))
	for {
		if at := &t.index[i]; *at == 0 || t.paths[*at] == p {
			return at
		}
		if i++; i == uint64(len(t.index)) {
			i = 0
		}
	}
}

// reindex makes the index of all paths in use, with a number of entries.
func (t *pathTable) reindex(entries int) {
	if entries == len(t.index) {
		clear(t.index)
	} else {
		t.index = make([]uint32, entries)
	}
	t.indexed = 0
	for i, p := range t.paths {
		if i > 0 && p.link != unusedPath {
			*t.find(p) = uint32(i)
			t.indexed++
		}
	}
}

// Links returns the links of a path, the last one first.
func (t *pathTable) Links(r Resource) []int {
	var links []int
	for p := uint32(r.Number()); p != 0; p = t.paths[p].before {
		links = append(links, int(t.paths[p].link))
	}
	return links
}
