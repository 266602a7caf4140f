package mem

import (
	"cmp"
	"fmt"
	"slices"
)

// Extent maps a run of virtual addresses to memory. Where PerPE is nil all PEs see the bytes at PA.
// Otherwise PE p sees its own copy at PerPE[p] (a replicated tensor), and an address of 0 there
// means that PE p has none.
type Extent struct {
	VA    Addr
	Bytes int64
	PA    Addr
	PerPE []Addr
}

// Map translates virtual to physical addresses. The zero Map is empty and ready.
type Map struct {
	extents []extent // by address, disjoint
}

// extent is an Extent. There may be one for each PE, and few with copies.
type extent struct {
	va     Addr
	bytes  int64
	pa     Addr
	copies *[]Addr // nil: there are none
}

// Reserve grows the map's capacity by n extents.
func (m *Map) Reserve(n int) { m.extents = slices.Grow(m.extents, n) }

// Insert adds an extent. Extents must not overlap.
func (m *Map) Insert(e Extent) error {
	i := m.find(e.VA)
	if i > 0 {
		if p := m.extents[i-1]; p.va+Addr(p.bytes) > e.VA {
			return fmt.Errorf("mapping %v..+%d overlaps %v..+%d", e.VA, e.Bytes, p.va, p.bytes)
		}
	}
	if i < len(m.extents) && e.VA+Addr(e.Bytes) > m.extents[i].va {
		return fmt.Errorf("mapping %v..+%d overlaps %v", e.VA, e.Bytes, m.extents[i].va)
	}
	x := extent{va: e.VA, bytes: e.Bytes, pa: e.PA}
	if copies := e.PerPE; copies != nil {
		x.copies = &copies
	}
	m.extents = slices.Insert(m.extents, i, x)
	return nil
}

// Remove removes the extents that start in a range of addresses, such as all shards of a tensor. It
// returns how many there were.
func (m *Map) Remove(from, to Addr) int {
	start := func(e extent, a Addr) int { return cmp.Compare(e.va, a) }
	lo, _ := slices.BinarySearchFunc(m.extents, from, start)
	hi, _ := slices.BinarySearchFunc(m.extents, max(from, to), start)
	if lo == 0 { // mostly the oldest are removed first: nothing needs to move
		clear(m.extents[:hi])
		m.extents = m.extents[hi:]
	} else {
		m.extents = slices.Delete(m.extents, lo, hi)
	}
	return hi - lo
}

// find returns the number of extents that start at or before va.
func (m *Map) find(va Addr) int {
	lo, hi := 0, len(m.extents)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.extents[mid].va <= va {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Run is a range of addresses that are contiguous in one memory. Virtual (or physical) addresses
// From to To, without To, are at physical addresses from At on.
type Run struct {
	From, To, At Addr
}

// Has reports whether an address is in the run.
func (r *Run) Has(a Addr) bool { return r.From <= a && a < r.To }

// Resolve finds the physical address of an address in the run, and how many bytes from
// there on are contiguous.
func (r *Run) Resolve(a Addr) (pa Addr, contiguous int64) {
	return r.At + (a - r.From), int64(r.To - a)
}

// Find returns the run of an address of PE pe. A physical address maps to itself.
func (m *Map) Find(pe int, a Addr) (r Run, ok bool) {
	if a.Space() > SRAM {
		return Run{}, false
	}
	if a.Space() != Virtual {
		first := At(a.Space(), a.Unit(), 0)
		return Run{first, first + MaxOffset + 1, first}, true
	}
	i := m.find(a)
	if i == 0 {
		return Run{}, false
	}
	e := &m.extents[i-1]
	if int64(a-e.va) >= e.bytes {
		return Run{}, false
	}
	base := e.pa
	if e.copies != nil {
		copies := *e.copies
		if pe >= len(copies) || copies[pe] == 0 {
			return Run{}, false
		}
		base = copies[pe]
	}
	return Run{e.va, e.va + Addr(e.bytes), base}, true
}

// Resolve finds the physical address of address a of PE pe, and how many bytes from there on are
// contiguous.
func (m *Map) Resolve(pe int, a Addr) (pa Addr, contiguous int64, ok bool) {
	r, ok := m.Find(pe, a)
	if !ok {
		return 0, 0, false
	}
	pa, contiguous = r.Resolve(a)
	return pa, contiguous, true
}
