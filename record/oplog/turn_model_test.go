package oplog_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// cell is one element as a simple model of turns knows it.
type cell struct {
	kind  collective.Kind
	value float64
	set   map[[2]int64]int64 // how often (label, index) is in it
}

func (c cell) String() string { return fmt.Sprintf("%v %v %v", c.kind, c.value, c.set) }

func (c cell) equal(d cell) bool {
	return c.kind == d.kind && maps.Equal(c.set, d.set) && (c.kind == collective.Unwritten || c.value == d.value)
}

// merge returns a combined with b under an operation that the scope permits, or does not.
func (c cell) merge(d cell, value float64, permitted bool) cell {
	m := cell{kind: collective.Opaque, value: value}
	if permitted && c.kind == collective.Written && d.kind == collective.Written {
		m.kind, m.set = collective.Written, map[[2]int64]int64{}
		for _, set := range []map[[2]int64]int64{c.set, d.set} {
			for k, n := range set {
				m.set[k] += n
			}
		}
	}
	return m
}

// alike reports whether two cells hold the same contributions, for all that is known of them.
func (c cell) alike(d cell) bool { return c.kind == d.kind && maps.Equal(c.set, d.set) }

// modelled is memory of several ranks, in a log and in the model.
type modelled struct {
	t        *rapid.T
	log      *oplog.Log
	cells    [][]cell
	programs []*turning
}

const modelElems = 6

func (m *modelled) ref(rank, lo, n int) tl.Ref {
	return tl.Ref{Addr: at(rank) + mem.Addr(lo*4), Shape: tl.Dims(n), DType: dtype.I32}
}

// run draws a rank and n of its elements.
func (m *modelled) run(what string, n int) (rank, lo int) {
	rank = rapid.IntRange(0, len(m.cells)-1).Draw(m.t, what+" rank")
	return rank, rapid.IntRange(0, modelElems-n).Draw(m.t, what+" from")
}

func (m *modelled) at(rank, lo, n int) []cell { return m.cells[rank][lo : lo+n] }

func readable(cells ...[]cell) bool {
	return !slices.ContainsFunc(slices.Concat(cells...), func(c cell) bool { return c.kind == collective.Unwritten })
}

// turning is a program of the model: a queue of a rank.
type turning struct {
	agent *agent
	open  *tl.Turn
	want  *wanted
	parts map[int]labelled // of its contribution, by element of its rank's memory
}

// labelled is an element of a contribution: with the label of its turn, and as memory shows it.
type labelled struct{ own, shown cell }

// read returns what a program sees: in a turn, contributions to it by its labels, though others may
// share them.
func (m *modelled) read(p *turning, rank, lo, n int) []cell {
	seen := slices.Clone(m.at(rank, lo, n))
	for _, q := range m.programs {
		if p.open == nil || q.open == nil || q.open.ID != p.open.ID || q.agent.c.Rank() != rank {
			continue
		}
		for i := range seen {
			if part, ok := q.parts[lo+i]; ok && seen[i].alike(part.shown) {
				part.own.value = seen[i].value
				seen[i] = part.own
			}
		}
	}
	return seen
}

// label sets what memory shows of an element of a contribution from now on. Programs with the same
// element see it, too.
func (m *modelled) label(p *turning, at int, own cell) {
	rank := p.agent.c.Rank()
	for _, q := range m.programs {
		if part, ok := q.parts[at]; ok && q.open != nil && q.agent.c.Rank() == rank && m.cells[rank][at].alike(part.shown) {
			part.shown = own
			q.parts[at] = part
		}
	}
	p.parts[at] = labelled{own, own}
}

// wanted is a turn as the model captures it.
type wanted struct {
	turn    *tl.Turn
	in, out []cell
}

// pieces draws the pieces of a contribution or a result: none, one, or two.
func (m *modelled) pieces(what string, rank int) (refs []tl.Ref, places [][2]int) {
	lo := 0
	for range rapid.IntRange(0, 2).Draw(m.t, what) {
		if lo == modelElems {
			break
		}
		from := rapid.IntRange(lo, modelElems-1).Draw(m.t, what+" from")
		n := rapid.IntRange(1, modelElems-from).Draw(m.t, what+" elements")
		refs, places = append(refs, m.ref(rank, from, n)), append(places, [2]int{from, n})
		lo = from + n
	}
	return refs, places
}

// begin and end do to memory what a turn does.
func (m *modelled) begin(p *turning, id int) *wanted {
	rank := p.agent.c.Rank()
	in, inAt := m.pieces("contribution", rank)
	out, outAt := m.pieces("result", rank)
	t := &tl.Turn{ID: int32(id), World: len(m.cells), Rank: rank, Op: ops[id], Label: 100*id + rank, In: in, Out: out}
	w := &wanted{turn: t}
	for _, at := range inAt {
		w.in = append(w.in, m.at(rank, at[0], at[1])...)
	}
	if !readable(w.in) {
		return nil
	}
	p.want, p.parts = w, map[int]labelled{}
	k := int64(0)
	for _, at := range inAt {
		for i := range at[1] {
			m.label(p, at[0]+i, cell{collective.Written, w.in[k].value, map[[2]int64]int64{{int64(t.Label), k}: 1}})
			k++
		}
	}
	p.open = t
	tl.DriverOf(p.agent.c).BeginTurn(t)
	for _, at := range outAt {
		for i := range at[1] {
			m.cells[rank][at[0]+i] = cell{}
		}
	}
	for at, part := range p.parts {
		m.cells[rank][at] = part.own
	}
	return w
}

func (m *modelled) end(p *turning) {
	tl.DriverOf(p.agent.c).EndTurn()
	for _, r := range p.open.Out {
		lo := int(r.Addr-at(p.open.Rank)) / 4
		p.want.out = append(p.want.out, m.at(p.open.Rank, lo, r.Len())...)
	}
	p.open = nil
}

// ops are the reductions of the collectives, by their number; 0 is none.
var ops = []tl.ReduceOp{0, tl.Sum, tl.Max, tl.Sum}

// act is something that a program does with memory: it copies, computes or updates.
func (m *modelled) act(p *turning) {
	n := rapid.IntRange(1, 3).Draw(m.t, "elements")
	aRank, aLo := m.run("a", n)
	bRank, bLo := m.run("b", n)
	dRank, dLo := m.run("to", n)
	by := rapid.SampledFrom([]tl.ReduceOp{tl.Sum, tl.Max}).Draw(m.t, "by")
	permitted := p.open != nil && p.open.Op == by
	merged := func(a, b []cell, permitted bool) []cell {
		out := make([]cell, n)
		for i := range out {
			v := a[i].value + b[i].value
			if by == tl.Max {
				v = max(a[i].value, b[i].value)
			}
			out[i] = a[i].merge(b[i], v, permitted)
		}
		return out
	}
	a, b, d := m.read(p, aRank, aLo, n), m.read(p, bRank, bLo, n), m.at(dRank, dLo, n)
	c := p.agent.c
	switch rapid.SampledFrom([]string{"copy", "compute", "update"}).Draw(m.t, "action") {
	case "copy":
		if readable(a) {
			c.Store(m.ref(dRank, dLo, n), c.Load(m.ref(aRank, aLo, n)))
			copy(d, slices.Clone(a))
		}
	case "compute":
		if readable(a, b) {
			c.Store(m.ref(dRank, dLo, n), c.Combine(by, c.Load(m.ref(aRank, aLo, n)), c.Load(m.ref(bRank, bLo, n))))
			copy(d, merged(a, b, permitted))
		}
	case "update":
		if readable(a, d) {
			v := m.log.NewValue()
			m.log.Load(p.agent.origin, v, 0, n, n, dtype.I32, m.ref(aRank, aLo, n).Addr)
			m.log.Combine(p.agent.origin, m.ref(dRank, dLo, n).Addr, v, 0, n, dtype.I32, by.Binary())
			m.log.Release(v)
			// A number that the operation does not notice is an accumulator that was prepared.
			there := slices.Clone(d)
			for i := range there {
				if permitted && by == tl.Sum && there[i].kind == collective.Constant && there[i].value == 0 {
					there[i].kind = collective.Written
				}
			}
			copy(d, merged(there, a, permitted))
		}
	}
}

// cellsOf returns what was captured, in terms of the model.
func cellsOf(t collective.Prov, typ dtype.Type, data []byte) []cell {
	var all []cell
	for i := range t.Len() {
		r := t.At(i)
		c := cell{kind: r.Kind, value: dtype.At(typ, data, i)}
		for _, x := range r.Contributors() {
			if c.set == nil {
				c.set = map[[2]int64]int64{}
			}
			c.set[[2]int64{int64(x.Rank), x.Index}] += x.Count
		}
		all = append(all, c)
	}
	return all
}

// Turns of several programs, of one rank and of several, match the model in every interleaving.
func TestTurnsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 3).Draw(t, "ranks")
		as := agents(t, oplog.Options{Explain: true, Inline: rapid.Bool().Draw(t, "inline")}, ranks)
		m := &modelled{t: t, log: as[0].Log}
		var programs []*turning
		for rank, a := range as {
			if err := m.log.Map(at(rank), dtype.I32, modelElems); err != nil {
				t.Fatal(err)
			}
			cells := make([]cell, modelElems)
			for i := range cells { // the last stays unwritten
				if i == modelElems-1 {
					break
				}
				cells[i] = cell{kind: collective.Constant, value: float64(rapid.IntRange(0, 3).Draw(t, "value"))}
				data := make([]byte, 4)
				dtype.Set(dtype.I32, data, 0, cells[i].value)
				if err := m.log.Write(m.ref(rank, i, 1).Addr, dtype.I32, data); err != nil {
					t.Fatal(err)
				}
			}
			m.cells = append(m.cells, cells)
			programs = append(programs, &turning{agent: a}, &turning{agent: a.beside()})
		}
		m.programs = programs
		var want []*wanted
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p := rapid.SampledFrom(programs).Draw(t, "program")
			switch k := rapid.IntRange(0, 5).Draw(t, "step"); {
			case k == 0 && p.open == nil:
				id := rapid.IntRange(1, len(ops)-1).Draw(t, "collective")
				twice := slices.ContainsFunc(programs, func(q *turning) bool {
					return q.open != nil && int(q.open.ID) == id && q.agent.c.Rank() == p.agent.c.Rank()
				})
				if twice { // a rank takes part once
					continue
				}
				if w := m.begin(p, id); w != nil {
					want = append(want, w)
				}
			case k == 1 && p.open != nil:
				m.end(p)
			default:
				m.act(p)
			}
		}
		got, err := m.log.TakeTurns()
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d turns, want %d: %v", len(got), len(want), err)
		}
		for i, w := range want {
			g := got[i]
			open := slices.ContainsFunc(programs, func(p *turning) bool { return p.open != nil && p.want == w })
			if g.Turn.ID != w.turn.ID || g.Turn.Rank != w.turn.Rank || g.Ended == open {
				t.Fatalf("turn %d: %+v ended %v", i, g.Turn, g.Ended)
			}
			for k, v := range floats(dtype.I32, g.In) {
				if v != w.in[k].value {
					t.Errorf("turn %d: element %d was %v, want %v", i, k, v, w.in[k])
				}
			}
			out := cellsOf(g.Prov, dtype.I32, g.Out)
			if len(g.In) != 4*len(w.in) || !slices.EqualFunc(out, w.out, cell.equal) {
				t.Errorf("turn %d:\n got %v\nwant %v", i, out, w.out)
			}
		}
	})
}
