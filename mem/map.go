package mem

import (
	"fmt"
	"slices"
)

// Extent maps a run of virtual addresses to memory. Where PerPE is nil all PEs see the
// bytes at PA; otherwise PE p sees its own copy at PerPE[p] (a replicated tensor), and
// an address of 0 there means that PE p has none.
type Extent struct {
	VA    Addr
	Bytes int64
	PA    Addr
	PerPE []Addr
}

// Map translates virtual to physical addresses. The zero Map is empty and ready.
type Map struct {
	extents []Extent // by VA, disjoint
}

// Insert adds an extent. Extents must not overlap.
func (m *Map) Insert(e Extent) error {
	i := m.find(e.VA)
	if i > 0 {
		if p := m.extents[i-1]; p.VA+Addr(p.Bytes) > e.VA {
			return fmt.Errorf("mapping %v..+%d overlaps %v..+%d", e.VA, e.Bytes, p.VA, p.Bytes)
		}
	}
	if i < len(m.extents) && e.VA+Addr(e.Bytes) > m.extents[i].VA {
		return fmt.Errorf("mapping %v..+%d overlaps %v", e.VA, e.Bytes, m.extents[i].VA)
	}
	m.extents = slices.Insert(m.extents, i, e)
	return nil
}

// Remove takes the extent that starts at va out and says whether there was one.
func (m *Map) Remove(va Addr) bool {
	i := m.find(va)
	if i < 1 || m.extents[i-1].VA != va {
		return false
	}
	m.extents = slices.Delete(m.extents, i-1, i)
	return true
}

// find is the number of extents that start at or before va.
func (m *Map) find(va Addr) int {
	lo, hi := 0, len(m.extents)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.extents[mid].VA <= va {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Resolve finds the physical address that PE pe means by a, and how many bytes from
// there on are contiguous. A physical address stands for itself, if it is in a memory: At
// with a negative unit or offset makes one that is in none.
func (m *Map) Resolve(pe int, a Addr) (pa Addr, contiguous int64, ok bool) {
	if a.Space() > SRAM {
		return 0, 0, false
	}
	if a.Space() != Virtual {
		return a, MaxOffset + 1 - a.Offset(), true
	}
	i := m.find(a)
	if i == 0 {
		return 0, 0, false
	}
	e := &m.extents[i-1]
	off := int64(a - e.VA)
	if off >= e.Bytes {
		return 0, 0, false
	}
	base := e.PA
	if e.PerPE != nil {
		if pe >= len(e.PerPE) || e.PerPE[pe] == 0 {
			return 0, 0, false
		}
		base = e.PerPE[pe]
	}
	return base + Addr(off), e.Bytes - off, true
}
