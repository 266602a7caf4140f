package tl

import "kernbench/dtype"

// making is the instruction that is being made.
type making struct {
	in      Instr
	usual   bool // prepare made in
	side    OneSided
	words   []int32 // of the signal that an operation names
	dropped Instr   // apart from in, which may be in the making

	channels int32 // of messages from now on
}

// prepare begins a frequent instruction: a load, a store, arithmetic on two tensors, a message, or
// an operation on a window. It sets only the fields that these use, because that is faster than a
// new Instr. It sets no operands.
func (c *Context) prepare(op Op, t dtype.Type, n int, s Shape) *Instr {
	in := &c.in
	if !c.usual {
		*in, c.usual = Instr{C: None}, true
	}
	in.Op, in.Type, in.Copy, in.Port, in.Channels = op, t, false, 0, 0
	in.Dst, in.A, in.B, in.C = None, None, None, None
	in.DstOff, in.AOff, in.BOff, in.COff = 0, 0, 0, 0
	in.N, in.Shape = n, s
	in.Binary, in.Axis, in.Inner = 0, 0, 0
	in.Addr, in.Piece, in.Pieces, in.Side = 0, 0, 0, nil
	return in
}

// issue hands the instruction in c.in to the core.
func (c *Context) issue() {
	if c.seen.Calls++; c.seen.Calls > c.watch.NextLook() {
		c.look()
	}
	if c.inspects {
		c.inspect()
	}
	c.core.Do(&c.in)
}

// look reports progress to the watch, which may stop the kernel.
func (c *Context) look() {
	if err := c.watch.Look(&c.seen, c.here); err != nil {
		c.fail(err)
	}
}

// emit issues an instruction with any operation.
func (c *Context) emit(in *Instr) {
	c.in, c.usual = *in, false
	c.issue()
}

// inspect notes where an instruction is, and refuses what its core has no unit for.
func (c *Context) inspect() {
	switch {
	case c.lines != nil:
		c.lines.now = c.caller()
	case !c.choices:
	case c.in.isChoice():
		c.choice = c.caller()
	default:
		c.choice = nil
	}
	if c.coreType != CoreAny {
		c.checkCore()
	}
}

// isChoice reports whether the outcome of an instruction may depend on the schedule. It is true for
// all undirected receives, atomics, tests and reads of words, and for tasks. It is also true for an
// update or a wait that other updates of the word may undo, and for a put that combines.
func (in *Instr) isChoice() bool {
	switch in.Op {
	case OpTestWord, OpReadWord, OpFetchAdd, OpCompareSwap, OpTask:
		return true
	case OpRecv:
		return in.Port == AnyPort
	case OpWaitWord:
		return in.Side.Cmp != GE && in.Side.Cmp != GT
	case OpNotify:
		return in.Side.undoes()
	case OpPut:
		return in.Side.Atomic || in.Side.Signal && in.Side.undoes()
	}
	return false
}

// undoes reports whether an update of a word may undo another one.
func (s *OneSided) undoes() bool { return s.Op == SignalSet || s.Value < 0 }
