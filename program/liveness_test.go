package program

import (
	"math/rand/v2"
	"testing"

	"kernbench/tl"
)

// anyRecord returns a record of random operations, on tensors that are each made before they are
// read. Numbers are used again, but not for the result of an operation that reads the tensor.
func anyRecord(d *rand.Rand) *Record {
	k := &Record{Tensors: 1 + d.IntN(8)}
	made := make([]bool, k.Tensors)
	operand := func() int32 {
		if i := d.IntN(k.Tensors + 2); i < k.Tensors && made[i] {
			return int32(i)
		}
		return tl.None
	}
	for range d.IntN(40) {
		o := Op{Code: []tl.Op{tl.OpMath, tl.OpLoad, tl.OpSend, tl.OpRecv, tl.OpStore}[d.IntN(5)], Dst: tl.None,
			A: operand(), B: operand(), C: operand()}
		if dst := int32(d.IntN(k.Tensors)); o.Code != tl.OpSend && o.Code != tl.OpStore && dst != o.A && dst != o.B && dst != o.C {
			o.Dst = dst
			if o.Code == tl.OpLoad && made[dst] && d.IntN(2) == 0 {
				o.Sub = FurtherPiece
			}
			made[dst] = true
		}
		k.Ops = append(k.Ops, o)
	}
	k.Ops = append(k.Ops, Op{Code: End, Dst: tl.None, A: tl.None, B: tl.None, C: tl.None})
	return k
}

// read reports whether the value that a tensor has after an operation is read, or gone on with,
// later.
func (k *Record) read(tensor int32, after int) bool {
	for i := after + 1; i < len(k.Ops); i++ {
		o := &k.Ops[i]
		if o.A == tensor || o.B == tensor || o.C == tensor {
			return true
		}
		if o.Dst == tensor {
			return o.Continues()
		}
	}
	return false
}

// TestLastUses: each tensor ends once, with the operation after which none reads it.
func TestLastUses(t *testing.T) {
	for seed := range uint64(2000) {
		k := anyRecord(rand.New(rand.NewPCG(seed, 1)))
		for i, ends := range k.LastUses() {
			o := &k.Ops[i]
			ended := map[int32]int{}
			for n, tensor := range [...]int32{o.A, o.B, o.C, o.Dst} {
				if ends&(LastA<<n) != 0 {
					ended[tensor]++
				}
			}
			if ended[tl.None] > 0 {
				t.Fatalf("seed %d, operation %d %+v: %04b ends no tensor", seed, i, *o, ends)
			}
			for _, tensor := range [...]int32{o.A, o.B, o.C, o.Dst} {
				if tensor == tl.None {
					continue
				}
				want := 1
				if k.read(tensor, i) {
					want = 0
				}
				if ended[tensor] != want {
					t.Fatalf("seed %d, operation %d %+v: %04b ends tensor %d %d times, want %d", seed, i, *o, ends,
						tensor, ended[tensor], want)
				}
			}
		}
	}
}

// TestRenumber: with the numbers that Renumber gives, each operation reads what it reads in the
// record. No two tensors that are still read share a place.
func TestRenumber(t *testing.T) {
	for seed := range uint64(2000) {
		k := anyRecord(rand.New(rand.NewPCG(seed, 1)))
		type numbers struct{ dst, a, b, c int32 }
		all := make([]numbers, len(k.Ops))
		places := k.Renumber(func(i int, dst, a, b, c int32) { all[i] = numbers{dst, a, b, c} })
		// Values are the numbers of the operations that have made them.
		was, is := make([]int, k.Tensors), make([]int, places)
		most := 0
		for i, n := range all {
			o := &k.Ops[i]
			for _, p := range [...][2]int32{{o.A, n.a}, {o.B, n.b}, {o.C, n.c}} {
				if (p[0] == tl.None) != (p[1] == tl.None) {
					t.Fatalf("seed %d, operation %d %+v: %+v", seed, i, *o, n)
				}
				if p[0] != tl.None && was[p[0]] != is[p[1]] {
					t.Fatalf("seed %d, operation %d %+v: reads %d, in place %d is %d", seed, i, *o, was[p[0]], p[1], is[p[1]])
				}
			}
			if (o.Dst == tl.None) != (n.dst == tl.None) {
				t.Fatalf("seed %d, operation %d %+v: %+v", seed, i, *o, n)
			}
			if o.Dst != tl.None {
				if o.Continues() && was[o.Dst] != is[n.dst] {
					t.Fatalf("seed %d, operation %d %+v goes on with %d, in place %d is %d", seed, i, *o, was[o.Dst], n.dst, is[n.dst])
				}
				was[o.Dst], is[n.dst] = i+1, i+1
			}
			alive := 0
			for tensor := range int32(k.Tensors) {
				if k.read(tensor, i) {
					alive++
				}
			}
			most = max(most, alive)
		}
		if places > most+1 {
			t.Errorf("seed %d: %d places for %d tensors", seed, places, most)
		}
	}
}
