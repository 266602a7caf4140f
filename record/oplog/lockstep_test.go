package oplog_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// vectorTest holds what a lockstep makes of the tensors of some ranks, and the same rank by rank.
type vectorTest struct {
	u       *oplog.Lockstep
	vectors []oplog.Vector
	log     *bench
	values  [][]tl.Value // by vector and rank
	elems   []int        // by vector
}

const vectorElems = 8

// draw returns one of the tensors, and a range of it.
func (s *vectorTest) draw(t *rapid.T) (i int, off, n int) {
	i = rapid.IntRange(0, len(s.vectors)-1).Draw(t, "tensor")
	off = rapid.IntRange(0, s.elems[i]-1).Draw(t, "from")
	return i, off, rapid.IntRange(1, s.elems[i]-off).Draw(t, "elements")
}

func (s *vectorTest) add(c oplog.Vector, n int, value func(rank int) tl.Value) {
	values := make([]tl.Value, vectorRanks)
	for r := range values {
		values[r] = value(r)
	}
	s.vectors, s.values, s.elems = append(s.vectors, c), append(s.values, values), append(s.elems, n)
}

const vectorRanks = 5

// post is the address to which data from another rank are copied, one vector at a time.
var post = mem.At(mem.SRAM, 0, 0)

// places draws an address of n elements for each rank.
func places(t *rapid.T, n int) []mem.Addr {
	at := make([]mem.Addr, vectorRanks)
	for r := range at {
		at[r] = mem.At(mem.HBM, r, 4*int64(rapid.IntRange(0, vectorElems-n).Draw(t, "at")))
	}
	return at
}

func (s *vectorTest) actions() map[string]func(*rapid.T) {
	by := func(r int) oplog.By { return oplog.By{ID: s.log.OriginID(oplog.Origin{Rank: int32(r), PE: int32(r)})} }
	return map[string]func(*rapid.T){
		"load": func(t *rapid.T) {
			n := rapid.IntRange(1, vectorElems).Draw(t, "n")
			at := places(t, n)
			s.add(s.u.Load(at, dtype.I32, n), n, func(r int) tl.Value { return s.log.LoadBy(by(r), int32(n), dtype.I32, at[r]) })
		},
		"store": func(t *rapid.T) {
			i, off, n := s.draw(t)
			at := places(t, n)
			part := s.vectors[i].From(int32(off))
			s.u.Store(at, dtype.I32, part, n)
			s.u.Release(part)
			for r := range at {
				s.log.StoreBy(by(r), at[r], s.values[i][r], int32(off), int32(n), dtype.I32)
			}
		},
		"arithmetic": func(t *rapid.T) {
			i, a, n := s.draw(t)
			j, b, m := s.draw(t)
			k, op := int32(min(n, m)), rapid.SampledFrom([]dtype.BinaryOp{dtype.Add, dtype.Add, dtype.Sub}).Draw(t, "op")
			left, right := s.vectors[i].From(int32(a)), s.vectors[j].From(int32(b))
			s.add(s.u.Binary(op, dtype.I32, k, left, right), int(k), func(r int) tl.Value {
				return s.log.BinaryBy(by(r), op, dtype.I32, k, s.values[i][r], int32(a), s.values[j][r], int32(b))
			})
			s.u.Release(left)
			s.u.Release(right)
		},
		"scale": func(t *rapid.T) {
			i, off, n := s.draw(t)
			f := rapid.SampledFrom([]float64{vectorRanks, 2}).Draw(t, "by")
			part := s.vectors[i].From(int32(off))
			s.add(s.u.Scale(dtype.Div, dtype.I32, int32(n), part, f), n, func(r int) tl.Value {
				in := tl.Instr{Op: tl.OpMath, Math: tl.MathBinaryScalar, Binary: dtype.Div, Type: dtype.I32, N: n, Scalar: f}
				return s.log.MathOf(s.log.Origin(by(r)), &in, oplog.Operand{Value: s.values[i][r], Off: int32(off)},
					oplog.Operand{}, oplog.Operand{})
			})
			s.u.Release(part)
		},
		"pass": func(t *rapid.T) {
			i, off, n := s.draw(t)
			from := rapid.Permutation([]int32{0, 1, 2, 3, 4}).Draw(t, "from")
			s.add(s.u.Came(s.vectors[i].From(int32(off)), oplog.NewSenders(from)), n, func(r int) tl.Value {
				s.log.StoreBy(by(r), post, s.values[i][from[r]], int32(off), int32(n), dtype.I32)
				return s.log.LoadBy(by(r), int32(n), dtype.I32, post)
			})
		},
		"cut": func(t *rapid.T) {
			i, _, n := s.draw(t)
			from := make([]int32, vectorRanks)
			for r := range from {
				from[r] = int32(rapid.IntRange(0, s.elems[i]-n).Draw(t, "from"))
			}
			s.add(s.u.Cut(s.vectors[i], from, dtype.I32, int32(n)), n, func(r int) tl.Value {
				s.log.StoreBy(by(r), post, s.values[i][r], from[r], int32(n), dtype.I32)
				return s.log.LoadBy(by(r), int32(n), dtype.I32, post)
			})
		},
		"drop": func(t *rapid.T) {
			if i, _, _ := s.draw(t); len(s.vectors) > 1 {
				s.u.Release(s.vectors[i])
				for _, v := range s.values[i] {
					s.log.Release(v)
				}
				s.vectors, s.values, s.elems = slices.Delete(s.vectors, i, i+1), slices.Delete(s.values, i, i+1),
					slices.Delete(s.elems, i, i+1)
			}
		},
	}
}

// Operations of ranks in lockstep have the same result as the same operations one after the other.
func TestLockstep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]tl.ReduceOp{tl.Sum, tl.Avg, tl.Max}).Draw(t, "collective")
		logs := [2]*bench{newBench(t, oplog.Options{}), newBench(t, oplog.Options{Inline: true})}
		for _, l := range logs {
			err := l.Map(post, dtype.I32, vectorElems)
			for r := range vectorRanks {
				data := make([]byte, 4*vectorElems)
				for i := range data {
					data[i] = byte(r*31+i*7) & 0x83
				}
				err = cmp.Or(err, l.Map(at(r), dtype.I32, vectorElems), l.Write(at(r), dtype.I32, data), l.Label(r, 0, at(r), dtype.I32, 5))
			}
			if err != nil {
				t.Fatal(err)
			}
			l.Begin(op, vectorRanks)
		}
		s := &vectorTest{u: logs[0].Lockstep([]int32{0, 1, 2, 3, 4}), log: logs[1]}
		s.actions()["load"](t)
		t.Repeat(s.actions())
		for r := range vectorRanks {
			var said [2]string
			for i, l := range logs {
				data, prov, err := l.View(at(r), dtype.I32, vectorElems)
				said[i] = fmt.Sprint(data, prov, err)
			}
			if said[0] != said[1] {
				t.Fatalf("rank %d\n in lockstep %s\n one by one %s", r, said[0], said[1])
			}
		}
	})
}

// A lockstep stops at a mistake of memory, and reports its place.
func TestLockstepFaults(t *testing.T) {
	for name, c := range map[string]struct {
		at   mem.Addr
		want error
	}{
		"not mapped": {mem.At(mem.HBM, 1, 1<<20), &fault.BadAddress{}},
		"too long":   {at(1) + 8, &fault.BadAddress{}},
		"other type": {at(2), &fault.BadAddress{}},
		"unwritten":  {at(3), &fault.Unwritten{}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newBench(t, oplog.Options{Timed: true})
			l.put(t, 0, dtype.I32, 1, 2, 3)
			l.put(t, 1, dtype.I32, 1, 2, 3)
			l.put(t, 2, dtype.F16, 1, 2, 3, 4)
			if err := l.Map(at(3), dtype.I32, 2); err != nil {
				t.Fatal(err)
			}
			l.Untimed(true)
			u := l.Lockstep([]int32{0, 1})
			u.Load([]mem.Addr{at(0), at(1)}, dtype.I32, 2)
			if u.Failed() {
				t.Fatal(u.Fault())
			}
			u.Load([]mem.Addr{at(0), c.at}, dtype.I32, 2)
			err := u.Fault()
			if got, want := fmt.Sprintf("%T", err), fmt.Sprintf("%T", c.want); got != want ||
				!strings.HasPrefix(err.Error(), "rank 1 load: ") {
				t.Errorf("got %v, want a %s of rank 1, without a time", err, want)
			}
		})
	}
}

// A consumer of sets, or of the origin of elements, gets each operation.
func TestNoLockstep(t *testing.T) {
	for _, o := range []oplog.Options{{Explain: true}, {Audit: true}} {
		if newBench(t, o).Lockstep([]int32{0}) != nil {
			t.Errorf("there is one of %+v", o)
		}
	}
}
