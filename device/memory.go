package device

import (
	"fmt"
	"strings"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// Memory names elements that a stream can copy: a matrix, possibly with a stride. The matrix is in
// a shard of a tensor or in a member's copy of a window. The copy reports a mistake in it.
type Memory struct {
	owner       any    // the *Tensor or *mem.Window
	whole, part string // for errors
	addr        mem.Addr
	rows, cols  int
	pitch       int // elements from one row to the next
	typ         dtype.Type
	err         error
}

// On returns the shard that a PE has of the tensor: the rows and columns of its Region.
func (t *Tensor) On(pe int) Memory {
	if t == nil {
		return Memory{err: t.usable(nil)}
	}
	if err := t.usable(t.ctx); err != nil {
		return Memory{err: err}
	}
	for _, s := range t.shards {
		if s.Rank == pe {
			return Memory{
				owner: t, whole: t.name, part: t.ctx.cfg.Machine.PEName(pe),
				addr: s.Addr, rows: s.Region.Rows, cols: s.Region.Cols, pitch: s.Region.Cols, typ: t.dtype,
			}
		}
	}
	return Memory{err: fmt.Errorf("%w: %s has no shard on PE %d", ErrShape, t.name, pe)}
}

// InWindow returns a data part in the copy of a member, as one row.
func InWindow(w *mem.Window, rank int, part string) Memory {
	p, err := findPart("copy", w, rank, part)
	if err == nil && p.Word != mem.NoWord {
		err = fmt.Errorf("copy: %w: %s.%v are control words: WriteValue is for them", ErrWindow, w.Name, p)
	}
	if err != nil {
		return Memory{err: err}
	}
	return Memory{
		owner: w, whole: w.Name, part: p.FullName(),
		addr: partAddr(w, rank, p, 0), rows: 1, cols: p.Count, pitch: p.Count, typ: p.Type,
	}
}

// findPart finds a part of a window, in the copy of a member.
func findPart(op string, w *mem.Window, rank int, part string) (*mem.Part, error) {
	switch {
	case w == nil:
		return nil, fmt.Errorf("%s: %w: no window", op, ErrWindow)
	case w.Released:
		return nil, &fault.Released{Place: hostPlace(op), Window: w.Name}
	case rank < 0 || rank >= w.Team.Size():
		return nil, &fault.NotMember{Place: hostPlace(op), Team: w.Team.Name, Size: w.Team.Size(), Peer: rank, ByRank: true}
	}
	p := w.Layout.Find(part)
	if p == nil {
		return nil, fmt.Errorf("%s: %w: %s has no part %q: it has %s", op, ErrWindow, w.Name, part, strings.Join(w.Layout.Names(), ", "))
	}
	return p, nil
}

// Matrix returns m, whose elements are contiguous, as rows × cols.
func (m Memory) Matrix(rows, cols int) Memory {
	if m.err == nil && (!m.contiguous() || !m.has(rows, cols)) {
		m.err = fmt.Errorf("%w: %v as %d × %d", ErrShape, m, rows, cols)
	}
	m.rows, m.cols, m.pitch = rows, cols, cols
	return m
}

// has reports whether m has rows × cols elements.
func (m *Memory) has(rows, cols int) bool {
	if rows < 1 || cols < 1 {
		return rows >= 0 && cols >= 0 && m.elems() == 0
	}
	return m.elems()%rows == 0 && m.elems()/rows == cols
}

// Slice returns elements [first, first+n) of m, whose elements are contiguous, as one row.
func (m Memory) Slice(first, n int) Memory {
	if m.err == nil && !m.contiguous() {
		m.err = fmt.Errorf("%w: a slice of %v: its rows are not contiguous", ErrShape, m)
	}
	m.within("element", first, n, m.elems())
	m.addr += mem.Addr(first * m.typ.Size())
	m.rows, m.cols, m.pitch = 1, n, n
	return m
}

// Rows returns rows [first, first+n) of m.
func (m Memory) Rows(first, n int) Memory {
	m.within("row", first, n, m.rows)
	m.addr += mem.Addr(first * m.pitch * m.typ.Size())
	m.rows = n
	return m
}

// Cols returns columns [first, first+n) of m. The rows of the result are not contiguous.
func (m Memory) Cols(first, n int) Memory {
	m.within("column", first, n, m.cols)
	m.addr += mem.Addr(first * m.typ.Size())
	m.cols = n
	return m
}

func (m *Memory) within(unit string, first, n, size int) {
	if m.err == nil && (first < 0 || n < 0 || n > size || first > size-n) {
		m.err = &fault.OutOfBounds{
			Place: hostPlace("copy"), Window: m.whole, Buffer: m.part, Unit: unit,
			From: int64(first), To: int64(first) + int64(n), Size: int64(size),
		}
	}
}

func (m Memory) String() string {
	return fmt.Sprintf("%s.%s of %d × %d %v", m.whole, m.part, m.rows, m.cols, m.typ)
}

func (m *Memory) elems() int { return m.rows * m.cols }

func (m *Memory) contiguous() bool { return m.rows <= 1 || m.pitch == m.cols }

// usable reports whether a stream of a context can copy from or to m.
func (m *Memory) usable(c *Context) error {
	if m.err != nil {
		return m.err
	}
	switch owner := m.owner.(type) {
	case *Tensor:
		return owner.usable(c)
	case *mem.Window:
		return c.usableWindow("copy", owner)
	}
	return fmt.Errorf("%w: no memory: Tensor.On and InWindow name some", ErrShape)
}

// as gives a contiguous m the shape of another.
func (m *Memory) as(other *Memory) {
	if m.contiguous() {
		m.rows, m.cols, m.pitch = other.rows, other.cols, other.cols
	}
}

// overlaps reports whether two memories, of the same type, share an element.
func (m *Memory) overlaps(o *Memory) bool {
	size := mem.Addr(m.typ.Size())
	for i, k := 0, 0; i < m.rows && k < o.rows; {
		a, b := m.addr+mem.Addr(i*m.pitch)*size, o.addr+mem.Addr(k*o.pitch)*size
		aEnd, bEnd := a+mem.Addr(m.cols)*size, b+mem.Addr(o.cols)*size
		switch {
		case aEnd <= b:
			i++
		case bEnd <= a:
			k++
		default:
			return true
		}
	}
	return false
}
