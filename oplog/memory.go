package oplog

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
)

// memory is the contents of everything mapped: pieces of typed memory, by the unit that they
// are in and then by address.
type memory struct {
	units [mem.SRAM + 1][]bank
}

// bank is a PE's or a cube's memory of one kind.
type bank struct {
	pieces []*piece
	last   *piece // most recently found: accesses come in bursts
}

// in is the bank of an address, nil where nothing was ever mapped.
func (m *memory) in(a mem.Addr) *bank {
	space, i := int(a.Space()), a.Unit()
	if space < len(m.units) && i < len(m.units[space]) {
		return &m.units[space][i]
	}
	return nil
}

type piece struct {
	base mem.Addr
	typ  dtype.Type
	size int    // bytes
	data []byte // nil until somebody asks for the piece: large memory that nobody uses costs nothing
	prov collective.Prov
	few  [4]collective.Run // where provenance lies while it has no more runs

	trees []Tree  // of the elements, where somebody asks for them
	wrote []int32 // explain mode, see Log.Writers
}

func (p *piece) end() mem.Addr { return p.base + mem.Addr(p.size) }

// bytes is n elements from off on.
func (p *piece) bytes(off, n int) []byte {
	size := p.typ.Size()
	return p.data[off*size : (off+n)*size]
}

// search is the index of the last piece that starts at or before a, or -1.
func (u *bank) search(a mem.Addr) int {
	lo, hi := 0, len(u.pieces)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if u.pieces[mid].base <= a {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

func (m *memory) insert(a mem.Addr, t dtype.Type, n int) error {
	units := &m.units[a.Space()]
	if more := a.Unit() + 1 - len(*units); more > 0 {
		*units = append(*units, make([]bank, more)...)
	}
	u, p := m.in(a), &piece{base: a, typ: t, size: n * t.Size()}
	p.prov = collective.MakeUnwritten(p.few[:0], n)
	i := u.search(a)
	if i >= 0 && u.pieces[i].end() > a {
		return fmt.Errorf("memory at %v is in use from %v on", a, u.pieces[i].base)
	}
	if i+1 < len(u.pieces) && p.end() > u.pieces[i+1].base {
		return fmt.Errorf("%d bytes at %v run into memory in use from %v on", p.size, a, u.pieces[i+1].base)
	}
	u.pieces = slices.Insert(u.pieces, i+1, p)
	return nil
}

func (m *memory) remove(a mem.Addr) error {
	u, i := m.in(a), -1
	if u != nil {
		i = u.search(a)
	}
	if i < 0 || u.pieces[i].base != a {
		return fmt.Errorf("no memory was mapped at %v", a)
	}
	u.pieces, u.last = slices.Delete(u.pieces, i, i+1), nil
	return nil
}

// hit is the piece that has an address, or nil.
func (m *memory) hit(a mem.Addr) *piece {
	u := m.in(a)
	if u == nil {
		return nil
	}
	if p := u.last; p != nil && a >= p.base && a < p.end() {
		return p
	}
	i := u.search(a)
	if i < 0 || a >= u.pieces[i].end() {
		return nil
	}
	u.last = u.pieces[i]
	return u.last
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
	p := m.hit(a)
	if p == nil {
		return nil, 0, errors.New("nothing is mapped there")
	}
	off, err := p.holds(a, t, n)
	return p, off, err
}

// holds is which element lies at a, if n of type t follow from there on.
func (p *piece) holds(a mem.Addr, t dtype.Type, n int) (int, error) {
	off, size := int(a-p.base), t.Size()
	if off+n*size > p.size {
		return 0, fmt.Errorf("only %d bytes are mapped from there on", max(0, p.size-off))
	}
	if p.typ.Size() != size {
		return 0, fmt.Errorf("the memory holds %v: access as %v would split elements", p.typ, t)
	}
	return off >> bits.TrailingZeros(uint(size)), nil
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
