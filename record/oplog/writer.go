package oplog

import (
	"kernbench/dtype"
	"kernbench/mem"
)

// Writers returns, for n elements of memory, the operations that wrote them last, by the ids that
// Why takes. It is 0 for an element that the host wrote last. It is also 0 for an element that then
// became part of a contribution or of the memory of a result. The result is nil outside explain
// mode, and valid until the next launch.
func (l *Log) Writers(a mem.Addr, t dtype.Type, n int) []int32 {
	if !l.opts.Explain || l.Flush() != nil {
		return nil
	}
	p, off, err := l.at(a, t, n)
	if err != nil {
		return nil
	}
	return p.writers(off, n)
}

// writers returns the writers of n elements from off on. Memory keeps them from their first use on.
func (p *piece) writers(off, n int) []int32 {
	if p.wrote == nil {
		p.wrote = make([]int32, p.size/p.typ.Size())
	}
	return p.wrote[off : off+n]
}

// wrote notes, in explain mode, that a record wrote n elements from off on.
func (r *replay) wrote(p *piece, off, n int, x *record) {
	id := r.cause(x)
	for i := range p.writers(off, n) {
		p.wrote[off+i] = id
	}
}

// untouched clears the writers of n elements from off on.
func (p *piece) untouched(off, n int) {
	if p.wrote != nil {
		clear(p.wrote[off : off+n])
	}
}
