package oplog_test

import (
	"errors"
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

// logged is memory and values in a simple model, next to logs that record the same. The logs have
// explicit sets or not, and results in place or out of place.
type logged struct {
	logs   []*bench
	ranks  [][]cell
	values map[tl.Value][]cell
	holds  map[tl.Value]int
}

const loggedElems = 8

// each records the same in all logs. Their results have one name.
func (m *logged) each(t *rapid.T, f func(b *bench) tl.Value) tl.Value {
	v := f(m.logs[0])
	for _, b := range m.logs[1:] {
		if w := f(b); w != v {
			t.Fatalf("value %d in one log is %d in another", v, w)
		}
	}
	return v
}

// made notes a value.
func (m *logged) made(v tl.Value, cells []cell) {
	m.values[v], m.holds[v] = cells, 1
}

// value draws one that is alive, and a range of it.
func (m *logged) value(t *rapid.T, what string) (v tl.Value, off, n int) {
	v = rapid.SampledFrom(slices.Sorted(maps.Keys(m.values))).Draw(t, what)
	off = rapid.IntRange(0, len(m.values[v])-1).Draw(t, what+" from")
	return v, off, rapid.IntRange(1, len(m.values[v])-off).Draw(t, what+" elements")
}

// memory draws n elements of a rank.
func (m *logged) memory(t *rapid.T, n int) (cells []cell, a mem.Addr) {
	rank := rapid.IntRange(0, len(m.ranks)-1).Draw(t, "rank")
	lo := rapid.IntRange(0, loggedElems-n).Draw(t, "at")
	return m.ranks[rank][lo : lo+n], at(rank) + mem.Addr(4*lo)
}

// permitted returns the sum of cells in a collective that sums.
func permitted(a, b []cell) []cell {
	out := make([]cell, len(a))
	for i := range a {
		out[i] = a[i].merge(b[i], a[i].value+b[i].value, true)
	}
	return out
}

// by returns a random origin for the next operation, and whether it is given by its name or by its
// number.
func (m *logged) by(t *rapid.T) (oplog.Origin, bool) {
	o := oplog.Origin{Rank: rapid.Int32Range(-1, 3).Draw(t, "by"), PE: 7}
	if rapid.Bool().Draw(t, "line") {
		o.Line = "kernel.go:9"
	}
	return o, rapid.Bool().Draw(t, "by number")
}

func number(b *bench, o oplog.Origin) oplog.By { return oplog.By{ID: b.OriginID(o), Time: o.Time} }

func (m *logged) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"load": func(t *rapid.T) {
			n := rapid.IntRange(1, loggedElems).Draw(t, "n")
			cells, a := m.memory(t, n)
			if !readable(cells) {
				return
			}
			o, short := m.by(t)
			m.made(m.each(t, func(b *bench) tl.Value {
				if short {
					return b.LoadBy(number(b, o), int32(n), dtype.I32, a)
				}
				v := b.NewValue()
				b.Load(o, v, 0, n, n, dtype.I32, a)
				return v
			}), slices.Clone(cells))
		},
		"load in two parts": func(t *rapid.T) {
			n, k := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "k")
			first, a := m.memory(t, n)
			second, b := m.memory(t, k)
			if !readable(first, second) {
				return
			}
			o, _ := m.by(t)
			turned := rapid.Bool().Draw(t, "second first")
			m.made(m.each(t, func(l *bench) tl.Value {
				v := l.NewValue()
				if turned {
					l.Load(o, v, n, k, n+k, dtype.I32, b)
				}
				l.Load(o, v, 0, n, n+k, dtype.I32, a)
				if !turned {
					l.Load(o, v, n, k, n+k, dtype.I32, b)
				}
				return v
			}), slices.Concat(first, second))
		},
		"store": func(t *rapid.T) {
			if len(m.values) == 0 {
				return
			}
			v, off, n := m.value(t, "stored")
			cells, a := m.memory(t, n)
			o, short := m.by(t)
			m.each(t, func(b *bench) tl.Value {
				if short {
					b.StoreBy(number(b, o), a, v, int32(off), int32(n), dtype.I32)
				} else {
					b.Store(o, a, v, int32(off), n, dtype.I32)
				}
				return 0
			})
			copy(cells, m.values[v][off:])
		},
		"add": func(t *rapid.T) {
			if len(m.values) == 0 {
				return
			}
			v, vOff, n := m.value(t, "left")
			w, wOff, k := m.value(t, "right")
			n = min(n, k)
			o, _ := m.by(t)
			m.made(m.each(t, func(b *bench) tl.Value {
				return b.BinaryBy(number(b, o), dtype.Add, dtype.I32, int32(n), v, int32(vOff), w, int32(wOff))
			}), permitted(m.values[v][vOff:][:n], m.values[w][wOff:][:n]))
		},
		"scale": func(t *rapid.T) {
			if len(m.values) == 0 {
				return
			}
			v, _, _ := m.value(t, "scaled")
			cells := make([]cell, len(m.values[v]))
			for i, c := range m.values[v] {
				cells[i] = cell{kind: collective.Opaque, value: 3 * c.value}
			}
			o, _ := m.by(t)
			m.made(m.each(t, func(b *bench) tl.Value {
				return b.Elementwise(o, tl.MathBinaryScalar, dtype.Mul, v, 0, 0, len(cells), 0, 3, 0, dtype.I32)
			}), cells)
		},
		"retain": func(t *rapid.T) {
			if len(m.values) > 0 {
				v, _, _ := m.value(t, "retained")
				m.holds[v]++
				m.each(t, func(b *bench) tl.Value { b.Retain(v); return 0 })
			}
		},
		"release": func(t *rapid.T) {
			if len(m.values) == 0 {
				return
			}
			v, _, _ := m.value(t, "released")
			m.each(t, func(b *bench) tl.Value { b.Release(v); return 0 })
			if m.holds[v]--; m.holds[v] == 0 {
				delete(m.values, v)
			}
		},
		"look": func(t *rapid.T) {
			for rank, cells := range m.ranks {
				m.look(t, rank, cells)
			}
		},
	}
}

// look holds the memory of a rank in all logs against the model.
func (m *logged) look(t *rapid.T, rank int, want []cell) {
	var first collective.Prov
	for i, b := range m.logs {
		data, prov, err := b.View(at(rank), dtype.I32, loggedElems)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 { // the one with explicit sets
			first = slices.Clone(prov)
			if got := cellsOf(prov, dtype.I32, data); !slices.EqualFunc(got, want, cell.equal) {
				t.Fatalf("rank %d:\n got %v\nwant %v", rank, got, want)
			}
			continue
		}
		for k, c := range want {
			x, y := first.At(k), prov.At(k)
			if x.Why, y.Why = 0, 0; !x.Same(&y) || x.Depth != y.Depth {
				t.Fatalf("rank %d element %d: log %d has %+v, the first %+v", rank, k, i, y, x)
			}
			if got := dtype.At(dtype.I32, data, k); c.kind != collective.Unwritten && got != c.value {
				t.Fatalf("rank %d element %d: log %d has %v, want %v", rank, k, i, got, c.value)
			}
		}
	}
}

// Values that have several owners, and are loaded, added and stored whole or in part, match the
// model in every form of replay.
func TestLogAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &logged{values: map[tl.Value][]cell{}, holds: map[tl.Value]int{}}
		for _, o := range []oplog.Options{{Inline: true, Explain: true}, {Inline: true}, {}, {Inline: true, Audit: true}} {
			m.logs = append(m.logs, newBench(t, o))
		}
		for rank := range rapid.IntRange(1, 3).Draw(t, "ranks") {
			cells := make([]cell, loggedElems)
			written := rapid.IntRange(1, loggedElems).Draw(t, "written")
			data := make([]byte, 4*written)
			for i := range written {
				cells[i] = cell{collective.Written, float64(rapid.IntRange(0, 9).Draw(t, "value")),
					map[[2]int64]int64{{int64(rank), int64(i)}: 1}}
				dtype.Set(dtype.I32, data, i, cells[i].value)
			}
			m.ranks = append(m.ranks, cells)
			m.each(t, func(b *bench) tl.Value {
				if err := errors.Join(b.Map(at(rank), dtype.I32, loggedElems), b.Write(at(rank), dtype.I32, data),
					b.Label(rank, 0, at(rank), dtype.I32, written)); err != nil {
					t.Fatal(err)
				}
				return 0
			})
		}
		m.each(t, func(b *bench) tl.Value { b.Begin(tl.Sum, len(m.ranks)); return 0 })
		t.Repeat(m.actions())
		for rank, cells := range m.ranks {
			m.look(t, rank, cells)
		}
	})
}
