package oplog

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
)

// memory is the contents of everything mapped: pieces of typed memory by address.
type memory struct {
	pieces []*piece
	last   *piece // most recently found: accesses come in bursts
}

type piece struct {
	base mem.Addr
	typ  dtype.Type
	size int    // bytes
	data []byte // nil until somebody asks for the piece: large memory that nobody uses costs nothing
	prov collective.Prov

	trees []Tree // of the elements, where somebody asks for them
}

func (p *piece) end() mem.Addr { return p.base + mem.Addr(p.size) }

// bytes is n elements from off on.
func (p *piece) bytes(off, n int) []byte {
	size := p.typ.Size()
	return p.data[off*size : (off+n)*size]
}

// search is the index of the last piece that starts at or before a, or -1.
func (m *memory) search(a mem.Addr) int {
	lo, hi := 0, len(m.pieces)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.pieces[mid].base <= a {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

func (m *memory) insert(a mem.Addr, t dtype.Type, n int) error {
	p := &piece{base: a, typ: t, size: n * t.Size(), prov: collective.MakeUnwritten(nil, n)}
	i := m.search(a)
	if i >= 0 && m.pieces[i].end() > a {
		return fmt.Errorf("memory at %v is in use from %v on", a, m.pieces[i].base)
	}
	if i+1 < len(m.pieces) && p.end() > m.pieces[i+1].base {
		return fmt.Errorf("%d bytes at %v run into memory in use from %v on", p.size, a, m.pieces[i+1].base)
	}
	m.pieces = slices.Insert(m.pieces, i+1, p)
	return nil
}

func (m *memory) remove(a mem.Addr) error {
	i := m.search(a)
	if i < 0 || m.pieces[i].base != a {
		return fmt.Errorf("no memory was mapped at %v", a)
	}
	m.pieces = slices.Delete(m.pieces, i, i+1)
	m.last = nil
	return nil
}

// at finds n elements of type t at a: the piece and the element within it. An access by
// another type of the same size sees the same bytes; other sizes are refused. The error
// leaves a to those who tell it.
func (m *memory) at(a mem.Addr, t dtype.Type, n int) (*piece, int, error) {
	p, off, err := m.find(a, t, n)
	if err == nil && p.data == nil {
		p.data = make([]byte, p.size)
	}
	return p, off, err
}

// find is at for those who do not ask for the bytes.
func (m *memory) find(a mem.Addr, t dtype.Type, n int) (*piece, int, error) {
	p := m.last
	if p == nil || a < p.base || a >= p.end() {
		i := m.search(a)
		if i < 0 || a >= m.pieces[i].end() {
			return nil, 0, errors.New("nothing is mapped there")
		}
		p = m.pieces[i]
		m.last = p
	}
	off, size := int(a-p.base), t.Size()
	if off+n*size > p.size {
		return nil, 0, fmt.Errorf("only %d bytes are mapped from there on", max(0, p.size-off))
	}
	if p.typ.Size() != size {
		return nil, 0, fmt.Errorf("the memory holds %v: access as %v would split elements", p.typ, t)
	}
	return p, off / size, nil
}

// firstUnwritten is the first of n elements from off on that was never written, counted
// from off, or -1.
func firstUnwritten(p collective.Prov, off, n int) int {
	at := 0
	for i := range p {
		lo, hi := at, at+int(p[i].N)
		at = hi
		if p[i].Kind == collective.Unwritten && hi > off && lo < off+n {
			return max(lo, off) - off
		}
		if hi >= off+n {
			break
		}
	}
	return -1
}
