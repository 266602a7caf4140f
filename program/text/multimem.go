package text

import (
	"fmt"
	"slices"

	"kernbench/mem"
	"kernbench/tl"
)

// This file has the statements that a switch performs: load_reduce, store_multicast and
// reduce_multicast, and the groups of ranks that they name. See tl/multimem.go.

// group reads a group of the header: g0 0:4 6.
func (p *parser) group() error {
	if _, err := p.word(fmt.Sprintf("g%d", len(p.f.Groups))); err != nil {
		return err
	}
	ranks, err := p.ranks("", mostRanks)
	if err == nil && len(ranks) == 0 {
		err = p.errorf("found no rank, want at least one")
	}
	p.f.Groups, p.groups = append(p.f.Groups, ranks), append(p.groups, p.line)
	return err
}

// checkGroups checks the ranks of groups, when the number of ranks is known.
func (p *parser) checkGroups() error {
	for i, ranks := range p.f.Groups {
		if last := ranks[len(ranks)-1]; int(last) >= p.f.World {
			return p.f.errorf(p.groups[i], "found rank %d in group g%d, want ranks from 0 to %d", last, i, p.f.World-1)
		}
	}
	return nil
}

// combining takes the operation by which a switch combines copies.
func (p *parser) combining(s *Stmt) error {
	op, err := p.word("sum", "prod", "max", "min")
	if err != nil {
		return err
	}
	by, err := tl.ParseReduceOp(op)
	if s.Sub = uint8(by); err != nil {
		return p.errorf("%v", err)
	}
	return nil
}

// copies reads the memory whose copies a switch uses all together.
func (p *parser) copies(x *Place) error {
	if err := p.place(x); err != nil {
		return err
	}
	if x.Far {
		return p.errorf("found a rank after the memory, want none: the copies of all ranks are meant, or of a group (among gN)")
	}
	return nil
}

// among takes the group at the end of a statement, if it has one.
func (p *parser) among(s *Stmt) error {
	if len(p.free) == 0 || p.free[0] != "among" {
		return nil
	}
	p.free = p.free[1:]
	t, err := p.next("a group, such as g0")
	if err != nil {
		return err
	}
	if s.Grouped = true; t[0] == 'c' {
		return p.num(t, "group", 0, &s.Group)
	}
	for i := range p.f.Groups {
		if t == fmt.Sprintf("g%d", i) {
			s.Group = Num{N: int32(i)}
			return nil
		}
	}
	return p.errorf("found group %q, want one of the header: there are %d, from g0 on", t, len(p.f.Groups))
}

// multimem checks a statement that a switch performs.
func (k *checker) multimem(s *Stmt) error {
	n := s.Shape.Elems()
	for _, p := range []*Place{&s.Mem, &s.From} {
		switch {
		case p.Buffer == NoBuffer:
		case p.Buffer < Window:
			return fmt.Errorf("found memory outside windows, want a part of a window: that is what a switch reaches")
		case p.Rows > 0 || int(p.N) != n || s.Shape != tl.Dims(n):
			return fmt.Errorf("found %s for %d elements of memory, want as many in one range, with one extent", typedText(s.Type, s.Shape),
				p.elems())
		}
	}
	if s.Op == ReduceMulticast {
		if err := k.apart(s); err != nil {
			return err
		}
	}
	if !s.Grouped {
		return nil
	}
	for i, r := range k.b.Ranks {
		g := k.b.At(s.Group, i)
		if g < 0 || g >= len(k.f.Groups) {
			return fmt.Errorf("found group %d of rank %d, want one of the header: there are %d, from g0 on", g, r, len(k.f.Groups))
		}
		if _, member := slices.BinarySearch(k.f.Groups[g], r); !member {
			return fmt.Errorf("found group g%d, which rank %d is not in: it has the ranks %s", g, r, ranges(k.f.Groups[g]))
		}
	}
	return nil
}

// apart checks that what a switch loads and what it stores lie apart in one window.
func (k *checker) apart(s *Stmt) error {
	if s.Mem.Buffer != s.From.Buffer {
		return fmt.Errorf("found memory of two windows, want one window")
	}
	size := int64(s.Type.Size())
	for i, r := range k.b.Ranks {
		place := func(p *Place) int64 {
			return k.f.part(p).Off + int64(k.b.At(p.From, i))*size
		}
		to, from := place(&s.Mem), place(&s.From)
		if max(to, from)-min(to, from) < int64(s.Mem.N)*size {
			return fmt.Errorf("found a destination that overlaps the source on rank %d, want them apart", r)
		}
	}
	return nil
}

// switched makes the statement of an operation that a switch performs.
func (m *maker) switched(s *Stmt, in *tl.Instr) (err error) {
	s.Op, s.Sub = LoadReduce, uint8(reduceOp(in.Binary))
	switch in.Op {
	case tl.OpMulticast:
		s.Op, s.Sub, s.In[0] = StoreMulticast, 0, m.operand(in.A, in.AOff, in.N)
	case tl.OpReduceMulticast:
		s.Op = ReduceMulticast
		if s.From, err = m.place(in.Side.Local, in); err != nil {
			return err
		}
	}
	if g := in.Side.Group; g != nil {
		var ranks []int32
		for _, pe := range g.PEs {
			ranks = append(ranks, m.rankOf[int(pe)])
		}
		at := slices.IndexFunc(m.f.Groups, func(known []int32) bool { return slices.Equal(known, ranks) })
		if at < 0 {
			at = len(m.f.Groups)
			m.f.Groups = append(m.f.Groups, ranks)
		}
		s.Grouped, s.Group = true, Num{N: int32(at)}
	}
	s.Mem, err = m.place(in.Side.Remote, in)
	return err
}

// groupOf is a group that a rank has made of ranks of a window.
type groupOf struct {
	window Buffer
	number int
}

// copies returns a place in the copies of all ranks, or of the group of a statement.
func (x *interpreter) copies(s *Stmt, p *Place) tl.Sym {
	sym := x.sym(p, s.Type)
	if !s.Grouped {
		return sym
	}
	key := groupOf{p.Buffer, x.b.At(s.Group, x.index)}
	g, ok := x.groups[key]
	if !ok {
		var ranks []int
		for _, r := range x.f.Groups[key.number] {
			ranks = append(ranks, int(r))
		}
		g = x.c.Group(x.a.Window(int(p.Buffer-Window)), ranks...)
		if x.groups == nil {
			x.groups = map[groupOf]*mem.Group{}
		}
		x.groups[key] = g
	}
	return sym.Among(g)
}
