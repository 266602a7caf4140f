package tl

import (
	"fmt"

	"kernbench/fault"
	"kernbench/mem"
)

// This file has loads and stores of the copies of several members of a window at once, which a
// switch performs: CUDA calls them multimem. The machine must have a switch, or a tree of switches,
// that joins the members and can (system.switch.multicast, system.switch.reduce).

// Group returns some members of a window, by ascending rank: this PE is one of them. See Sym.Among.
func (c *Context) Group(w *mem.Window, ranks ...int) *mem.Group {
	const op = "group"
	if w == nil {
		c.misuse(op, "no window was given")
	}
	me := c.own(op, w)
	g, err := mem.NewGroup(w.Team, ranks)
	if err != nil {
		c.misuse(op, err.Error())
	}
	if !g.Has(me) {
		c.fail(&fault.NotMember{Place: c.place(op), Team: fmt.Sprintf("%s, ranks %v", w.Team.Name, ranks), Size: len(ranks), Peer: -1})
	}
	return g
}

// Among is s in the copies of a group only, for LoadReduce, StoreMulticast and ReduceMulticast. Nil
// means all members.
func (s Sym) Among(g *mem.Group) Sym {
	s.group = g
	return s
}

// LoadReduce starts a load of what s names in the copies of all members, or of a group, and returns
// at once. The switch combines the copies. The first operation that needs the tensor waits for it.
// Each member's memory is read once, over that member's link. Switches combine the copies in
// ascending order of members, and round each result to the type. Types of 16 bits they combine in
// f32, and round once. Avg is the sum: see Finish.
func (c *Context) LoadReduce(s Sym, by ReduceOp) (t Tensor) {
	const op = "load_reduce"
	own := c.ofAll(op, s)
	c.combinesBy(op, by)
	c.result(op, own.DType, own.Shape, &t)
	if t.n == 0 {
		return t
	}
	c.counts.Read += own.Bytes()
	in := c.prepare(OpLoadReduce, own.DType, int(t.n), own.Shape)
	in.Dst, in.Binary, in.Side = t.cell, by.Binary(), &c.side
	c.issue()
	return t
}

// StoreMulticast starts a store of t to what s names in the copies of all members, or of a group,
// and returns at once. It includes this PE's own copy. One copy leaves this PE; the switch makes
// the others.
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
	in := c.prepare(OpMulticast, to.DType, int(t.n), to.Shape)
	in.A, in.AOff, in.Side = cell, t.off, &c.side
	c.issue()
}

// ReduceMulticast starts a load of what src names in the copies of all members, or of the group of
// dst. It stores the combination to dst in these copies, and returns at once. The data do not come
// to this PE in between. Each member sends its data up once and gets the result once. PipeBarrier
// waits for it. It combines as LoadReduce does.
func (c *Context) ReduceMulticast(dst, src Sym, by ReduceOp) {
	const op = "reduce_multicast"
	if dst.win != src.win {
		c.misuse(op, "the source lies in another window than the destination")
	}
	from := c.ofAll(op, src)
	to := c.ofAll(op, dst)
	c.combinesBy(op, by)
	if to.DType != from.DType || to.Len() != from.Len() {
		c.misuse(op, fmt.Sprintf("the destination is %s, the source %s", describe(to.DType, to.Shape), describe(from.DType, from.Shape)))
	}
	if lo, hi := min(from.Addr, to.Addr), max(from.Addr, to.Addr); to.Len() > 0 && int64(hi-lo) < to.Bytes() {
		c.misuse(op, "the destination overlaps the source")
	}
	if to.Len() == 0 {
		return
	}
	c.counts.Read += to.Bytes()
	c.counts.Written += to.Bytes()
	in := c.prepare(OpReduceMulticast, to.DType, to.Len(), to.Shape)
	c.side.Local = from.Addr
	in.Binary, in.Side = by.Binary(), &c.side
	c.issue()
}

// ofAll is s in this PE's own copy. It makes the part of an instruction that names all copies.
func (c *Context) ofAll(op string, s Sym) Ref {
	if s.win == nil {
		c.misuse(op, "the zero Sym: use what Context.Data returns")
	}
	me := c.own(op, s.win)
	own := c.symAt(op, s, me)
	if g := s.group; g != nil && (g.Team != s.win.Team || !g.Has(me)) {
		c.misuse(op, fmt.Sprintf("the group of ranks %v of team %q is one of another team, or without this PE", g.Ranks, g.Team.Name))
	}
	c.side = OneSided{Win: s.win, Peer: int32(me), Remote: own.Addr, Group: s.group}
	return own
}

// PEs returns the PEs whose copies an instruction names: of all members, or of its group.
func (s *OneSided) PEs() []int32 {
	if s.Group != nil {
		return s.Group.PEs
	}
	return s.Win.Team.PEs
}

// Of returns the place of an address of this PE's copy, such as Remote, in the copy of PEs()[i].
func (s *OneSided) Of(a mem.Addr, i int) mem.Addr {
	if s.Group != nil {
		i = int(s.Group.Ranks[i])
	}
	return s.Win.Addr(i, int64(a-s.Win.Addr(int(s.Peer), 0)))
}
