package oplog

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/unit"
)

// memory holds the contents of all mapped memory: pieces of typed memory, by their unit and then by
// address.
type memory struct {
	units   [mem.SRAM + 1][]bank
	budget  unit.Bytes // 0: none
	mapped  unit.Bytes
	longest int // piece, in elements
}

// TooLarge is the error for data that needs more host memory than the budget.
type TooLarge struct{ Need, Budget unit.Bytes }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("the data of this run needs about %v of memory, more than the limit of %v: use fewer elements or ranks, or do not verify data",
		about(e.Need, true), about(e.Budget, false))
}

// about rounds a number of bytes up or down to a quarter of a unit.
func about(b unit.Bytes, up bool) unit.Bytes {
	for _, u := range []unit.Bytes{unit.GiB, unit.MiB, unit.KiB} {
		if quarter := u / 4; b >= 4*u {
			down := b / quarter * quarter
			if up && down < b && down <= math.MaxInt64-quarter {
				return down + quarter
			}
			return down
		}
	}
	return b
}

// perElement is the memory for the expected value of one element while a result is judged.
const perElement = 16

// need estimates the memory for all mapped data: its bytes, as many again for data of messages, and
// the expected values of one result. It saturates.
func need(mapped unit.Bytes, longest int) unit.Bytes {
	const most = unit.Bytes(math.MaxInt64)
	if mapped > most/4 || unit.Bytes(longest) > most/4/perElement {
		return most
	}
	return 2*mapped + perElement*unit.Bytes(longest)
}

// bank is a PE's or a cube's memory of one kind.
type bank struct {
	pieces []*piece
	last   *piece // most recently found: accesses come in bursts
}

// in returns the bank of an address, or nil if nothing was ever mapped there.
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
	data []byte // nil until the piece is used: large memory that is never used costs nothing
	prov collective.Prov
	few  [4]collective.Run // storage for provenance of a few runs

	trees []Tree  // of the elements, if trees are kept
	wrote []int32 // explain mode, see Log.Writers
}

func (p *piece) end() mem.Addr { return p.base + mem.Addr(p.size) }

// bytes returns n elements from off on.
func (p *piece) bytes(off, n int) []byte {
	size := p.typ.Size()
	return p.data[off*size : (off+n)*size]
}

// search returns the index of the last piece that starts at or before a, or -1.
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
	mapped, longest := m.mapped+unit.Bytes(p.size), max(m.longest, n)
	if need := need(mapped, longest); m.budget > 0 && need > m.budget {
		return &TooLarge{need, m.budget}
	}
	p.prov = collective.MakeUnwritten(p.few[:0], n)
	i := u.search(a)
	if i >= 0 && u.pieces[i].end() > a {
		return fmt.Errorf("memory at %v is in use from %v on", a, u.pieces[i].base)
	}
	if i+1 < len(u.pieces) && p.end() > u.pieces[i+1].base {
		return fmt.Errorf("%d bytes at %v overlap memory in use from %v on", p.size, a, u.pieces[i+1].base)
	}
	m.mapped, m.longest = mapped, longest
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
	m.mapped -= unit.Bytes(u.pieces[i].size)
	u.pieces, u.last = slices.Delete(u.pieces, i, i+1), nil
	return nil
}

// hit returns the piece that contains an address, or nil.
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

// at finds n elements of type t at a: the piece and the element within it. An access by another
// type of the same size sees the same bytes; other sizes are rejected. The error does not name a;
// the caller adds it.
func (m *memory) at(a mem.Addr, t dtype.Type, n int) (*piece, int, error) {
	p, off, err := m.find(a, t, n)
	if err == nil && p.data == nil {
		p.data = make([]byte, p.size)
	}
	return p, off, err
}

// find is at for callers that do not need the bytes.
func (m *memory) find(a mem.Addr, t dtype.Type, n int) (*piece, int, error) {
	p := m.hit(a)
	if p == nil {
		return nil, 0, errors.New("nothing is mapped there")
	}
	off, err := p.holds(a, t, n)
	return p, off, err
}

// holds returns the index of the element at a, if n elements of type t follow there.
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

// firstUnwritten returns the first of n elements from off on that was never written, counted from
// off, or -1.
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
