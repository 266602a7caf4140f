package tl

import "kernbench/dtype"

// making is the instruction that is being made.
type making struct {
	in      Instr
	usual   bool // in is as usually makes it
	side    OneSided
	words   []int32 // of the signal that an operation names
	dropped Instr   // apart from in, which may be in the making
}

// usually begins an instruction of one of the kinds that kernels are full of: loads, stores,
// arithmetic on two tensors, messages, and what concerns windows. They use few of an instruction's
// fields, and need not make all of it anew. There are no operands in it yet.
func (c *Context) usually(op Op, t dtype.Type, n int, s Shape) *Instr {
	in := &c.in
	if !c.usual {
		*in, c.usual = Instr{C: None}, true
	}
	in.Op, in.Type, in.Copy, in.Port = op, t, false, 0
	in.Dst, in.A, in.B, in.C = None, None, None, None
	in.DstOff, in.AOff, in.BOff, in.COff = 0, 0, 0, 0
	in.N, in.Shape = n, s
	in.Binary, in.Axis, in.Inner = 0, 0, 0
	in.Addr, in.Piece, in.Pieces, in.Side = 0, 0, 0, nil
	return in
}

// issue hands the instruction in c.in to the core.
func (c *Context) issue() {
	if c.seen.Calls++; c.seen.Calls > c.watch.Most() {
		c.look()
	}
	if c.watched {
		c.inspect()
	}
	c.core.Do(&c.in)
}

// look answers the watch, which may stop the kernel.
func (c *Context) look() {
	if err := c.watch.Look(&c.seen, c.here); err != nil {
		c.fail(err)
	}
}

// emit is issue of an instruction of any kind.
func (c *Context) emit(in *Instr) {
	c.in, c.usual = *in, false
	c.issue()
}

// inspect notes where an instruction is, and refuses what its core has no unit for.
func (c *Context) inspect() {
	if c.lines != nil {
		c.lines.now = c.caller()
	}
	if c.coreType != CoreAny {
		c.checkCore()
	}
}
