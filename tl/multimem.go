package tl

import (
	"fmt"

	"kernbench/mem"
)

// This file has loads and stores of the copies of all members of a window at once, which a switch
// performs: CUDA calls them multimem. The machine must have a switch that joins the members and can
// (system.switch.multicast, system.switch.reduce).

// LoadReduce starts a load of what s names in the copies of all members, which the switch combines
// on the way, and returns at once; the first operation that needs the tensor waits for it. Each
// member's memory is read once, over that member's link. The switch combines the copies of members
// in ascending order, and rounds each result to the type; types of 16 bits it combines in f32, and
// rounds once. Avg is the sum: see Finish.
func (c *Context) LoadReduce(s Sym, by ReduceOp) (t Tensor) {
	const op = "load_reduce"
	own := c.ofAll(op, s)
	if by > Avg {
		c.misuse(op, fmt.Sprintf("%v: one of sum, prod, max, min, avg", by))
	}
	c.result(op, own.DType, own.Shape, &t)
	if t.n == 0 {
		return t
	}
	c.counts.Read += own.Bytes()
	in := c.usually(OpLoadReduce, own.DType, int(t.n), own.Shape)
	in.Dst, in.Binary, in.Side = t.cell, by.Binary(), &c.side
	c.issue()
	return t
}

// StoreMulticast starts a store of t to what s names in the copies of all members, its own too, and
// returns at once. One copy leaves this PE; the switch makes the others.
func (c *Context) StoreMulticast(s Sym, t Tensor) {
	const op = "store_multicast"
	to := c.ofAll(op, s)
	cell := c.use(op, &t)
	if to.DType != t.dtype || to.Len() != int(t.n) {
		c.misuse(op, fmt.Sprintf("the destination is %s, the tensor %s", describe(to.DType, to.Shape), describe(t.dtype, t.shape)))
	}
	if t.n == 0 {
		return
	}
	c.counts.Written += to.Bytes()
	in := c.usually(OpMulticast, to.DType, int(t.n), to.Shape)
	in.A, in.AOff, in.Side = cell, t.off, &c.side
	c.issue()
}

// ofAll is s in this PE's own copy. It makes the part of an instruction that names all copies.
func (c *Context) ofAll(op string, s Sym) Ref {
	if s.win == nil {
		c.misuse(op, "the zero Sym: use what Context.Data returns")
	}
	me := c.own(op, s.win)
	own := c.symAt(op, s, me)
	c.side = OneSided{Win: s.win, Peer: int32(me), Remote: own.Addr}
	return own
}

// Of is the place of Remote in the copy of a member.
func (s *OneSided) Of(member int) mem.Addr {
	return s.Win.Addr(member, int64(s.Remote-s.Win.Addr(int(s.Peer), 0)))
}
