package oplog

import (
	"cmp"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/fault"
	"kernbench/tl"
)

// At the start of a turn the memory of its result counts as unwritten, so that an old result does
// not count as new. The memory keeps the old bytes until the turn writes there. An access of
// another program meanwhile is a race with the turn, and not a read of unwritten memory.

// early is an access to memory that a running turn has not written yet.
type early struct {
	record record
	first  int // element within the access
	turn   *tl.Turn
}

// span is n elements of a piece, from element off on.
type span struct {
	p      *piece
	off, n int
}

// forget notes which of n elements had a value before the turn began.
func (o *opened) forget(p *piece, off, n int) {
	at := 0
	for _, run := range p.prov {
		lo, hi := max(at, off), min(at+int(run.N), off+n)
		at += int(run.N)
		if lo < hi && run.Kind != collective.Unwritten {
			o.forgotten = append(o.forgotten, span{p, lo, hi - lo})
		}
	}
}

// remember makes memory readable again that an ending turn had forgotten and has not written.
// Memory that is also a result of another running turn stays forgotten until that one ends.
func (r *replay) remember(o *opened) {
	rest := o.forgotten
	for _, other := range r.turns.open {
		if len(other.Turn.Out) == 0 || len(rest) == 0 || other.Turn.Out[0].Addr.Unit() != rest[0].p.base.Unit() {
			continue // on another PE
		}
		for _, ref := range other.Turn.Out {
			p, off, err := r.memory.find(ref.Addr, ref.DType, ref.Len())
			if err != nil {
				continue
			}
			var both []span
			rest, both = cut(rest, span{p, off, ref.Len()})
			other.forgotten = append(other.forgotten, both...)
		}
	}
	for _, s := range rest {
		s.p.fillUnwritten(s.off, s.n)
	}
}

// cut divides spans into the parts outside of by and those inside.
func cut(spans []span, by span) (outside, inside []span) {
	for _, s := range spans {
		lo, hi := max(s.off, by.off), min(s.off+s.n, by.off+by.n)
		if s.p != by.p || lo >= hi {
			outside = append(outside, s)
			continue
		}
		inside = append(inside, span{s.p, lo, hi - lo})
		if lo > s.off {
			outside = append(outside, span{s.p, s.off, lo - s.off})
		}
		if end := s.off + s.n; hi < end {
			outside = append(outside, span{s.p, hi, end - hi})
		}
	}
	return outside, inside
}

// fillUnwritten marks those of n elements as constants that were never written. It returns the
// first of them, counted from off, or -1.
func (p *piece) fillUnwritten(off, n int) int {
	first := firstUnwritten(p.prov, off, n)
	for i := first; i >= 0; i = firstUnwritten(p.prov, off, n) {
		run, skip := 0, off+i
		for skip >= int(p.prov[run].N) {
			skip -= int(p.prov[run].N)
			run++
		}
		some := min(int(p.prov[run].N)-skip, n-i)
		p.prov = collective.Overwrite(p.prov, off+i, collective.MakeConstant(nil, some))
	}
	return first
}

// written reports whether n elements can be read. Results of running turns can: the access is
// noted. Of other memory that was never written the record fails.
func (r *replay) written(x *record, p *piece, off, n int) bool {
	if firstUnwritten(p.prov, off, n) < 0 {
		return true
	}
	open := make([]*opened, 0, len(r.turns.open))
	for _, o := range r.turns.open {
		open = append(open, o)
	}
	slices.SortFunc(open, func(a, b *opened) int {
		return cmp.Or(cmp.Compare(a.Turn.ID, b.Turn.ID), cmp.Compare(a.Turn.Rank, b.Turn.Rank))
	})
	for _, o := range open {
		for _, ref := range o.Turn.Out {
			q, at, err := r.memory.find(ref.Addr, ref.DType, ref.Len())
			lo, hi := max(off, at), min(off+n, at+ref.Len())
			if err != nil || q != p || lo >= hi {
				continue
			}
			if i := p.fillUnwritten(lo, hi-lo); i >= 0 && r.turns.early == nil && !r.opts.Races {
				r.turns.early = &early{record: *x, first: lo + i - off, turn: o.Turn}
			}
		}
	}
	i := firstUnwritten(p.prov, off, n)
	if i < 0 {
		return true
	}
	r.unwritten = i
	r.fail(x, errUnwritten)
	return false
}

// fault returns the error for the access.
func (e *early) fault(l *Log) error {
	work := e.turn.Name
	if work == "" {
		work = fmt.Sprintf("turn %d", e.turn.ID)
	}
	return &fault.Early{
		Place: l.placeOf(&e.record), Addr: e.record.addr.String(), First: e.first,
		Work: fmt.Sprintf("%s of rank %d", work, e.turn.Rank), Await: e.turn.Await,
	}
}
