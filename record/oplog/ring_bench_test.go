package oplog_test

import (
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// ringLog records a chunked ring all-reduce in a log, rank after rank in each step.
type ringLog struct {
	*oplog.Log
	ranks, elems int
	hand, came   []tl.Value // what each rank sends next, and what has come to it
	c            *tl.Context
}

const ringType = dtype.F16

func newRing(b *testing.B, o oplog.Options, ranks, elems int) *ringLog {
	r := &ringLog{ranks: ranks, elems: elems, hand: make([]tl.Value, ranks), came: make([]tl.Value, ranks)}
	l := newBench(b, o)
	r.Log, r.c = l.Log, l.c
	x := l.put(b, ranks, ringType, 0)
	l.c.Load(x) // the two operands of an addition: cells 0 and 1
	l.c.Load(x)
	data := make([]byte, elems*ringType.Size())
	for k := range elems {
		dtype.Set(ringType, data, k, float64(k%5))
	}
	for i := range ranks {
		if err := r.Map(at(i), ringType, elems); err != nil {
			b.Fatal(err)
		}
		if err := r.Write(at(i), ringType, data); err != nil {
			b.Fatal(err)
		}
		if err := r.Label(i, 0, at(i), ringType, elems); err != nil {
			b.Fatal(err)
		}
	}
	return r
}

func (r *ringLog) chunk(rank, k int) (mem.Addr, int) {
	c := mem.ChunkOf(r.elems, r.ranks, (k+2*r.ranks)%r.ranks)
	return at(rank) + mem.Addr(c.Lo*ringType.Size()), c.N
}

func (r *ringLog) origin(rank int) oplog.Origin {
	return oplog.Origin{Rank: int32(rank), PE: int32(rank)}
}

func (r *ringLog) load(rank, k int) tl.Value {
	a, n := r.chunk(rank, k)
	v := r.NewValue()
	r.Load(r.origin(rank), v, 0, n, n, ringType, a)
	return v
}

func (r *ringLog) store(rank, k int, v tl.Value) {
	a, n := r.chunk(rank, k)
	r.Store(r.origin(rank), a, v, 0, n, ringType)
}

// all takes all steps of all ranks.
func (r *ringLog) all() {
	n := r.ranks
	r.Begin(tl.Sum, n)
	for i := range n {
		r.hand[i] = r.load(i, i)
	}
	for step := range 2 * (n - 1) {
		for i := range n {
			r.came[(i+1)%n] = r.hand[i]
		}
		for i := range n {
			v := r.came[i]
			if step < n-1 {
				v = r.add(i, step, v)
			}
			if step >= n-2 {
				r.store(i, i+n-1-step, v)
			}
			r.hand[i] = v
		}
	}
	for _, v := range r.hand {
		r.Release(v)
	}
	r.End()
}

// add adds what a rank brings to what has come.
func (r *ringLog) add(rank, step int, came tl.Value) tl.Value {
	own := r.load(rank, rank-1-step)
	_, n := r.chunk(rank, rank-1-step)
	in := tl.Instr{Op: tl.OpMath, Type: ringType, N: n, Axis: 1, Inner: 1, Binary: dtype.Add, A: 0, B: 1, C: tl.None}
	tl.DriverOf(r.c).Cell(0).Value, tl.DriverOf(r.c).Cell(1).Value = own, came
	sum := r.Math(r.origin(rank), &in, r.c)
	r.Release(own)
	r.Release(came)
	return sum
}

// BenchmarkRing is the whole log of a ring all-reduce of 64 KiB a rank.
func BenchmarkRing(b *testing.B) {
	for _, ranks := range []int{256, 1024} {
		for _, inline := range []bool{true, false} {
			b.Run(fmt.Sprintf("ranks=%d/inline=%v", ranks, inline), func(b *testing.B) {
				r := newRing(b, oplog.Options{Inline: inline}, ranks, 32768)
				b.ReportAllocs()
				for b.Loop() {
					r.all()
					if err := r.Flush(); err != nil {
						b.Fatal(err)
					}
				}
				messages := 2 * ranks * (ranks - 1)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(messages), "ns/message")
			})
		}
	}
}

// BenchmarkLockstepRing is the same by ranks that do it in lockstep.
func BenchmarkLockstepRing(b *testing.B) {
	for _, ranks := range []int{256, 1024} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			r := newRing(b, oplog.Options{}, ranks, 32768)
			pes, from, at := make([]int32, ranks), make([]int32, ranks), make([]mem.Addr, ranks)
			for i := range ranks {
				pes[i], from[i] = int32(i), int32((i+ranks-1)%ranks)
			}
			r.Begin(tl.Sum, ranks)
			u, way := r.Lockstep(pes), oplog.NewSenders(from)
			places := func(k int) []mem.Addr {
				for i := range at {
					at[i], _ = r.chunk(i, i+k)
				}
				return at
			}
			_, n := r.chunk(0, 0)
			b.ReportAllocs()
			for b.Loop() {
				for i := range ranks {
					if err := r.Label(i, 0, mem.At(mem.HBM, i, 0), ringType, r.elems); err != nil {
						b.Fatal(err)
					}
				}
				hand := u.Load(places(0), ringType, n)
				for step := range 2 * (ranks - 1) {
					hand = u.Came(hand, way)
					if step < ranks-1 {
						own := u.Load(places(-1-step), ringType, n)
						sum := u.Binary(dtype.Add, ringType, int32(n), own, hand)
						u.Release(own)
						u.Release(hand)
						hand = sum
					}
					if step >= ranks-2 {
						u.Store(places(-1-step), ringType, hand, n)
					}
				}
				u.Release(hand)
			}
			messages := 2 * ranks * (ranks - 1)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(messages), "ns/message")
		})
	}
}
