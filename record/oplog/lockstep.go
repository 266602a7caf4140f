package oplog

import (
	"math"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// Lockstep applies each operation to the data of many ranks at once, and records nothing. It is for
// launches in which all ranks perform the same operations, in an order that does not depend on
// time. No records may be added meanwhile.
type Lockstep struct {
	log     *Log
	rep     *replay
	by      []OriginID
	last    []*piece // of memory, that each used last
	free    map[int][]*column
	senders []*Senders // senders that are not in use
}

// Lockstep begins a launch of ranks in lockstep, given by their PEs. It returns nil for a log that
// explains or audits: these need each operation separately.
func (l *Log) Lockstep(pes []int32) *Lockstep {
	if l.opts.Explain || l.opts.Audit {
		return nil
	}
	u := &Lockstep{log: l, rep: l.rep, by: make([]OriginID, len(pes)), last: make([]*piece, len(pes)), free: map[int][]*column{}}
	for r, pe := range pes {
		u.by[r] = l.OriginID(Origin{Rank: int32(r), PE: pe})
	}
	l.settle()
	return u
}

// Failed reports whether an operation failed. No other operation may follow it.
func (u *Lockstep) Failed() bool { return u.rep.badErr != nil }

// Fault returns the error of that operation. Its time is unknown.
func (u *Lockstep) Fault() error { return u.log.fault() }

// failed keeps the fault of an access of rank r.
func (u *Lockstep) failed(r int, k kind, a mem.Addr, t dtype.Type, n int, err error) {
	u.rep.fail(&record{kind: k, origin: u.by[r], addr: a, typ: t, n: int32(n)}, err)
}

// piece finds n elements of memory of rank r, as memory.at does.
func (u *Lockstep) piece(r int, k kind, a mem.Addr, t dtype.Type, n int) (*piece, int) {
	p := u.last[r]
	if p == nil || a < p.base || a >= p.end() {
		var err error
		if p, _, err = u.rep.memory.at(a, t, n); err != nil {
			u.failed(r, k, a, t, n, err)
			return nil, 0
		}
		u.last[r] = p
	}
	off, err := p.holds(a, t, n)
	if err != nil {
		u.failed(r, k, a, t, n, err)
		return nil, 0
	}
	return p, off
}

// foresee prefetches the memory that ranks access next, as replay.foresee does.
func (u *Lockstep) foresee(at []mem.Addr, r, bytes int) {
	seen := byte(0)
	for last := min(r+foresight, len(at)); r < last; r++ {
		p := u.last[r]
		if p == nil || at[r] < p.base {
			continue
		}
		seen += byte(p.prov[0].N)
		lo := int(at[r] - p.base)
		for i := lo; i < min(lo+bytes, lo+longForesight, len(p.data)); i += cacheLine {
			seen += p.data[i]
		}
	}
	u.rep.asked = seen
}

// Load returns n elements of memory of each rank, each from its own address on.
func (u *Lockstep) Load(at []mem.Addr, t dtype.Type, n int) Vector {
	c := u.column(n * t.Size())
	for r, a := range at {
		if r%foresight == 0 {
			u.foresee(at, r, n*t.Size())
		}
		p, off := u.piece(r, recLoad, a, t, n)
		if p == nil {
			break
		}
		copy(c.bytes[r*c.size:(r+1)*c.size], p.bytes(off, n))
		labels := collective.Slice(c.runs[r:r:r+1], p.prov, off, n)
		if i := firstUnwritten(labels, 0, n); i >= 0 {
			u.rep.unwritten = i
			u.failed(r, recLoad, a, t, n, errUnwritten)
			break
		}
		c.put(r, labels)
	}
	return Vector{column: c}
}

// Store writes the first n elements of v to memory of each rank.
func (u *Lockstep) Store(at []mem.Addr, t dtype.Type, v Vector, n int) {
	for r, a := range at {
		if r%foresight == 0 {
			u.foresee(at, r, n*t.Size())
		}
		p, i := u.piece(r, recStore, a, t, n)
		if p == nil {
			break
		}
		copy(p.bytes(i, n), v.elems(r, t, int32(n)))
		p.prov = collective.Overwrite(p.prov, i, v.labels(r, &u.rep.pa, int32(n)))
	}
}

// Binary performs arithmetic on the first n elements of two operands.
func (u *Lockstep) Binary(op dtype.BinaryOp, t dtype.Type, n int32, a, b Vector) Vector {
	if n == 0 {
		return Vector{}
	}
	c := u.column(int(n) * t.Size())
	for r, k := 0, 1; r < len(u.by); r += k {
		if a.size == c.size && b.size == c.size { // as many as follow each other in all three
			k = min(a.run(r), b.run(r))
		}
		more := n * int32(k)
		dtype.Binary(op, t, c.bytes[r*c.size:(r+k)*c.size], a.elems(r, t, more), b.elems(r, t, more))
	}
	s, x := u.rep.whole, &record{kind: recMath, math: tl.MathBinary, sub: uint8(op), typ: t}
	merges, why := s.combining && collective.Combines(s.op, op), u.rep.cause(x)
	for r := range u.by {
		labels := a.labels(r, &u.rep.pa, n)
		if merges {
			c.put(r, u.rep.hasher.Merge(c.runs[r:r:r+1], labels, b.labels(r, &u.rep.pb, n), why))
		} else {
			c.put(r, collective.Obscure(c.runs[r:r:r+1], labels, why))
		}
	}
	return Vector{column: c}
}

// Shrinks reports whether arithmetic with a number makes no element larger, as Scale requires.
func Shrinks(op dtype.BinaryOp, by float64) bool {
	return op == dtype.Div && math.Abs(by) >= 1 || op == dtype.Mul && math.Abs(by) <= 1
}

// Scale performs arithmetic with a number on the first n elements.
func (u *Lockstep) Scale(op dtype.BinaryOp, t dtype.Type, n int32, a Vector, by float64) Vector {
	if n == 0 {
		return Vector{}
	}
	c := u.column(int(n) * t.Size())
	s, x := u.rep.whole, &record{kind: recMath, math: tl.MathBinaryScalar, sub: uint8(op), typ: t}
	averages, why := s.averages(x, by), u.rep.cause(x)
	for r := range u.by {
		dtype.BinaryScalar(op, t, c.bytes[r*c.size:(r+1)*c.size], a.elems(r, t, n), by)
		labels := a.labels(r, &u.rep.pa, n)
		if averages {
			c.put(r, collective.Scale(c.runs[r:r:r+1], labels, s.world, why))
		} else {
			c.put(r, collective.Obscure(c.runs[r:r:r+1], labels, why))
		}
	}
	return Vector{column: c}
}
