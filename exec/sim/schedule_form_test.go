package sim_test

import (
	"testing"

	"kernbench/unit"
)

// plan is a schedule of messages and additions, as a paper gives it, on all ranks of a call. It has
// the operations of each rank, one after the other. Its length follows from the rules of one rank
// and one message alone, by arithmetic:
//
//   - an instruction is issued I after the one before, or as soon as what it works on is there;
//   - a message that is sent is there a token's flight later, whatever else is in flight;
//   - additions of a rank follow one another, and so do accesses to its memory.
//
// So it has none of what the simulation is made of: no events, no links that messages share, no
// slots and credits, no kernels. They agree on networks where messages do not meet.
type plan struct {
	c     *terms
	ranks []*planned
	sent  map[planChannel][]unit.Time // when messages are there
}

// planChannel holds what keeps messages between two ranks in order: one tree, one direction.
type planChannel struct{ from, to, tag int }

// planned is a rank of a plan.
type planned struct {
	p                        *plan
	rank                     int
	do                       []func() bool // false: waits for a message that was not sent yet
	clock, math, memory, end unit.Time
	taken                    map[planChannel]int
}

// part is n elements that a rank has in hand, and when.
type part struct {
	n     int
	ready unit.Time
}

func newPlan(c *terms, ranks int) *plan {
	p := &plan{c: c, sent: map[planChannel][]unit.Time{}}
	for r := range ranks {
		p.ranks = append(p.ranks, &planned{p: p, rank: r, taken: map[planChannel]int{}})
	}
	return p
}

// issue is when an instruction starts that needs what is ready by then.
func (r *planned) issue(ready unit.Time) { r.clock = max(r.clock+r.p.c.I, ready) }

// access is when the own memory has done its part.
func (r *planned) access(n int) unit.Time {
	start := max(r.clock, r.memory)
	r.memory = start + r.p.c.b.topo.Cube().HBMBW.Serial().Time(int64(2*n))
	return start + r.p.c.own(int64(2*n))
}

func (r *planned) then(do func()) { r.do = append(r.do, func() bool { do(); return true }) }

func (r *planned) load(n int) *part {
	x := &part{n: n}
	r.then(func() { r.issue(0); x.ready = r.access(n) })
	return x
}

// copy moves what lies in the own memory to another place there.
func (r *planned) copy(n int) {
	r.then(func() {
		r.issue(0)
		r.clock = r.access(n)
		r.end = max(r.end, r.access(n))
	})
}

func (r *planned) store(x *part) {
	r.then(func() { r.issue(x.ready); r.end = max(r.end, r.access(x.n)) })
}

func (r *planned) send(to, tag int, x *part) {
	r.then(func() {
		r.issue(x.ready)
		r.clock += r.p.c.Tx
		at := planChannel{r.rank, to, tag}
		r.p.sent[at] = append(r.p.sent[at], r.clock+r.p.c.token(r.rank, to, int64(2*x.n)))
	})
}

func (r *planned) recv(from, tag, n int) *part {
	x, at := &part{n: n}, planChannel{from, r.rank, tag}
	r.do = append(r.do, func() bool {
		k := r.taken[at]
		if k == len(r.p.sent[at]) {
			return false
		}
		r.taken[at]++
		r.issue(r.p.sent[at][k])
		r.clock += r.p.c.Rx
		x.ready = r.clock
		return true
	})
	return x
}

// add makes one part of two, of which the sum is there when the addition is done.
func (r *planned) add(a, b *part) *part {
	x := &part{n: a.n}
	r.then(func() {
		r.issue(max(a.ready, b.ready))
		r.math = max(r.clock, r.math) + r.p.c.spec.Math.Time(a.n)
		x.ready = r.math
	})
	return x
}

// half is one of the halves of a part.
func (r *planned) half(a *part) *part { return r.piece(a, 2) }

// piece is a part divided into equal pieces: one of them.
func (r *planned) piece(a *part, of int) *part {
	x := &part{n: a.n / of}
	r.then(func() { x.ready = a.ready })
	return x
}

// length is when the last rank has done all.
func (p *plan) length(t *testing.T) unit.Time {
	t.Helper()
	for moved := true; moved; {
		moved = false
		for _, r := range p.ranks {
			for len(r.do) > 0 && r.do[0]() {
				r.do, moved = r.do[1:], true
			}
		}
	}
	var end unit.Time
	for _, r := range p.ranks {
		if len(r.do) > 0 {
			t.Fatalf("rank %d waits for ever", r.rank)
		}
		end = max(end, r.clock, r.end)
	}
	return end
}
