package tl

import (
	"fmt"
	"strings"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// Sym names values in a window: the same place in every member's copy. It moves nothing and
// is checked against the bounds of its part where it is used.
type Sym struct {
	win   *mem.Window
	part  *mem.Part
	off   int64 // bytes from the start of the part; may lie outside until it is used
	shape Shape
	as    dtype.Type // Invalid: that of the part
	group *mem.Group // for operations on several copies: whose; nil: all members'
}

// Data finds data of a window by the name of their part, as a vector.
func (c *Context) Data(w *mem.Window, name string) Sym {
	p := c.part("data", w, name)
	if p.Word != mem.NoWord {
		c.misuse("data", fmt.Sprintf("%s.%v are control words: they are for Signals", w.Name, p))
	}
	return Sym{win: w, part: p, shape: Dims(p.Count)}
}

// part finds a part of a window that this PE may use.
func (c *Context) part(op string, w *mem.Window, name string) *mem.Part {
	if w == nil {
		c.misuse(op, "no window was given")
	}
	c.own(op, w)
	p := w.Layout.Find(name)
	if p == nil {
		c.misuse(op, fmt.Sprintf("window %s has no part %q: it has %s", w.Name, name, strings.Join(w.Layout.Names(), ", ")))
	}
	return p
}

// own returns the rank of this PE among the members of a window.
func (c *Context) own(op string, w *mem.Window) int {
	if w.Released {
		c.fail(&fault.Released{Place: c.place(op), Window: w.Name})
	}
	if c.lastTeam != w.Team {
		r, ok := w.Team.Rank(c.pe)
		if !ok {
			c.fail(&fault.NotMember{Place: c.place(op), Team: w.Team.Name, Size: w.Team.Size(), Peer: -1})
		}
		c.lastTeam, c.lastRank = w.Team, r
	}
	return c.lastRank
}

// member checks that a window can be used, and has a member of a rank.
func (c *Context) member(op string, w *mem.Window, peer int) {
	c.own(op, w)
	if peer < 0 || peer >= w.Team.Size() {
		c.fail(&fault.NotMember{Place: c.place(op), Team: w.Team.Name, Size: w.Team.Size(), Peer: peer, ByRank: true})
	}
}

// Shape returns the extents of what s names.
func (s Sym) Shape() Shape { return s.shape }

// DType returns the element type.
func (s Sym) DType() dtype.Type {
	switch {
	case s.part == nil:
		return dtype.Invalid
	case s.as != dtype.Invalid:
		return s.as
	}
	return s.part.Type
}

// As returns the same bytes as elements of another type of the same size: it panics when the size
// differs. Elements keep their bits.
func (s Sym) As(t dtype.Type) Sym {
	if t.Size() != s.DType().Size() {
		panic(fmt.Sprintf("%v as %v: the sizes of the elements differ", s.DType(), t))
	}
	s.as = t
	return s
}

// Len returns the number of elements.
func (s Sym) Len() int { return s.shape.Elems() }

// Bytes returns the size of the values.
func (s Sym) Bytes() int64 { return int64(s.Len()) * int64(s.DType().Size()) }

// Window returns the window that s lies in.
func (s Sym) Window() *mem.Window { return s.win }

// Slice is elements [lo, lo+n), counted from the first of s, as a vector.
func (s Sym) Slice(lo, n int) Sym {
	s.off = clamp(s.off + int64(clamp(lo))*int64(s.DType().Size()))
	s.shape = Dims(n)
	return s
}

// beyond is farther than any memory goes. What is named so far outside of a part stays
// outside, and does not come round to its beginning.
const beyond = 1 << 56

func clamp[T int | int64](v T) T { return min(max(v, -beyond), beyond) }

// Chunk is part i of parts, as mem.ChunkOf splits.
func (s Sym) Chunk(parts, i int) Sym {
	k := mem.ChunkOf(s.Len(), parts, i)
	return s.Slice(k.Lo, k.N)
}

// At is s in the copy of a member: an address that this PE can load from and store to.
func (c *Context) At(s Sym, peer int) Ref {
	return c.symAt("address", s, peer)
}

// Local is s in this PE's own copy.
func (c *Context) Local(s Sym) Ref {
	if s.win == nil {
		c.misuse("address", "the zero Sym: use what Context.Data returns")
	}
	return c.symAt("address", s, c.own("address", s.win))
}

func (c *Context) symAt(op string, s Sym, peer int) Ref {
	if s.win == nil {
		c.misuse(op, "the zero Sym: use what Context.Data returns")
	}
	c.member(op, s.win, peer)
	n := s.Bytes()
	if s.off < 0 || n < 0 || s.off+n > s.part.Bytes() {
		size := int64(s.part.ElemSize())
		c.fail(&fault.OutOfBounds{
			Place: c.place(op), Window: s.win.Name, Buffer: s.part.FullName(), Unit: "element",
			From: s.off / size, To: (s.off + n) / size, Size: int64(s.part.Count),
		})
	}
	return Ref{s.win.Addr(peer, s.part.Off+s.off), s.shape, s.DType()}
}

// TeamRank is this PE's rank in a team; ok is false when it is no member.
func (c *Context) TeamRank(t *mem.Team) (rank int, ok bool) { return t.Rank(c.pe) }
