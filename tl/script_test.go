package tl

import (
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
)

// scribe is a Core on which everything is done at once, and written down.
type scribe struct {
	nothing
	script Script
	at     []mem.Addr
	c      *Context
}

func (s *scribe) Do(in *Instr) {
	s.nothing.Do(in)
	if s.script.Write(s.c, in); in.Op == OpLoad || in.Op == OpStore {
		s.at = append(s.at, in.Addr)
	}
}

// refuses is the Core of a kernel that has a script.
type refuses struct{ c *Context }

func (r *refuses) Do(*Instr) { r.c.reading.Stray(r.c) }

func onRank3(core Core, read *Reading) *Context {
	return NewContext(Setup{
		Core: core, Rank: 3, World: 9, PE: 3, Scratch: 1 << 20, Addrs: &mem.Map{}, Local: true, Reading: read,
		Wiring: &Wiring{Out: []OutPort{{Dir: West}, {Dir: East}}, In: []InPort{{Dir: West}, {Dir: East}}},
		Ring:   &Ring{Slots: 4, SlotBytes: 4096, Strict: true},
	})
}

func own(at int64, n int) Ref { return Ref{mem.At(mem.HBM, 3, at), Dims(n), dtype.F16} }

// written is the kernel that the script is of; where names the addresses.
func written(where int64) Kernel {
	return func(c *Context, _ Args) {
		v := c.Load(own(where, 8))
		c.Send(East, v)
		got := c.Recv(West, v.Shape(), v.DType())
		sum := c.Add(v, got)
		c.Free(v)
		c.Store(own(where+32, 4), c.Scale(dtype.Div, sum, 9).Slice(2, 4))
		c.Store(own(where+64, 8), sum)
	}
}

// TestReading: a kernel that keeps to its script comes to the addresses that its instructions have, and
// one that does not is found out.
func TestReading(t *testing.T) {
	type cut struct {
		line   int
		second bool
		off    int32
	}
	for name, c := range map[string]struct {
		kernel  Kernel
		lines   int // that it keeps to
		cut     []cut
		strayed bool
	}{
		"the same":  {written(4096), 7, nil, false},
		"elsewhere": {written(8192), 7, nil, false},
		"another length": {func(c *Context, _ Args) {
			c.Load(own(0, 7))
		}, 0, nil, true},
		"another shape": {func(c *Context, _ Args) {
			c.Load(Ref{own(0, 8).Addr, Dims(2, 4), dtype.F16})
		}, 0, nil, true},
		"another's memory": {func(c *Context, _ Args) {
			c.Load(Ref{mem.At(mem.HBM, 4, 0), Dims(8), dtype.F16})
		}, 0, nil, true},
		"another ring": {func(c *Context, _ Args) {
			c.Send(West, c.Load(own(0, 8)))
		}, 1, nil, true},
		"another call": {func(c *Context, _ Args) {
			c.Store(own(0, 8), c.Load(own(0, 8)))
		}, 1, nil, true},
		"another operation": {func(c *Context, _ Args) {
			v := c.Load(own(0, 8))
			c.Send(East, v)
			c.Sub(v, c.Recv(West, v.Shape(), v.DType()))
		}, 3, nil, true},
		"another operand": {func(c *Context, _ Args) {
			v := c.Load(own(0, 8))
			c.Send(East, v)
			c.Recv(West, v.Shape(), v.DType())
			c.Add(v, v)
		}, 3, nil, true},
		"another number": {func(c *Context, _ Args) {
			v := c.Load(own(0, 8))
			c.Send(East, v)
			c.Scale(dtype.Div, c.Add(v, c.Recv(West, v.Shape(), v.DType())), 8)
		}, 4, nil, true},
		"another message": {func(c *Context, _ Args) {
			v := c.Load(own(0, 8))
			c.Send(East, v)
			c.Recv(East, v.Shape(), v.DType())
		}, 2, nil, true},
		"what is not read": {func(c *Context, a Args) {
			c.Load(own(0, 8))
			c.RecvAsync(West, Dims(8), dtype.F16)
		}, 1, nil, true},
		"another kind of result": {func(c *Context, a Args) {
			v := c.Load(own(0, 8))
			c.Neg(v)
		}, 1, nil, true},
		"other parts": {func(c *Context, _ Args) {
			v := c.Load(own(0, 8))
			c.Send(East, v)
			sum := c.Add(v, c.Recv(West, v.Shape(), v.DType()))
			c.Store(own(0, 4), c.Scale(dtype.Div, sum, 9).Slice(3, 4))
		}, 6, []cut{{5, false, 3}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scribe{}
			s.c = onRank3(s, nil)
			if _, err := s.c.Run(written(4096), Args{}); err != nil || s.script.Lines() != 7 {
				t.Fatal(s.script.Lines(), err)
			}
			plain := &scribe{}
			plain.c = onRank3(plain, nil)
			_, _ = plain.c.Run(c.kernel, Args{})

			waits, cuts := 0, []cut(nil)
			read := &Reading{Script: &s.script, At: make([]mem.Addr, 20), Place: 1, Apart: 2}
			read.Wait = func() { waits++; read.Until++ }
			read.Cut = func(line int, second bool, off int32) { cuts = append(cuts, cut{line, second, off}) }
			core := &refuses{}
			core.c = onRank3(core, read)
			abandoned, err := core.c.Run(c.kernel, Args{})
			if err != nil || abandoned != c.strayed || read.Strayed != c.strayed || read.Next != c.lines || !slices.Equal(cuts, c.cut) {
				t.Errorf("%+v, cuts %v, abandoned %v, %v", read, cuts, abandoned, err)
			}
			if waits < c.lines {
				t.Errorf("waited %d times for %d lines", waits, c.lines)
			}
			for i := 1; i < read.Place; i += 2 {
				if got, want := read.At[i], plain.at[i/2]; got != want {
					t.Errorf("access %d at %v, want %v", i/2, got, want)
				}
			}
		})
	}
}
