package sim

import (
	"math/rand/v2"
	"testing"

	"kernbench/tl"
)

// TestReuseCells: operands are the results that they were, and there are no more cells than tensors that
// are used later.
func TestReuseCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		const cells = 9
		var ops, before []op
		filled := [cells]bool{}
		some := func() int32 {
			if c := rng.Int32N(cells); filled[c] && rng.IntN(4) > 0 {
				return c
			}
			return tl.None
		}
		for range rng.IntN(40) {
			o := op{kind: [...]opKind{opLoad, opStore, opMath, opSend, opRecv, opPost}[rng.IntN(6)], dst: tl.None, a: tl.None, b: tl.None, c: tl.None}
			switch o.kind {
			case opStore, opSend:
				o.a = some()
			case opMath:
				o.a, o.b, o.c = some(), some(), some()
			}
			if o.kind == opMath || o.kind == opLoad || o.kind == opRecv {
				o.dst = rng.Int32N(cells)
				o.more = o.kind == opRecv && rng.IntN(2) == 0 || o.kind == opLoad && filled[o.dst] && rng.IntN(2) == 0
				filled[o.dst] = true
			}
			ops = append(ops, o)
		}
		before = append(before, ops...)
		n := reuseCells(ops, cells)
		// What each cell holds, by the op that filled it.
		var was, is [cells]int
		live, most := 0, 0
		for i := range ops {
			a, b := &before[i], &ops[i]
			for k, c := range [...]int32{a.a, a.b, a.c} {
				d := [...]int32{b.a, b.b, b.c}[k]
				if (c == tl.None) != (d == tl.None) || c != tl.None && was[c] != is[d] {
					t.Fatalf("op %d of %+v: operand %d is another: %+v", i, before, k, ops)
				}
			}
			if (a.dst == tl.None) != (b.dst == tl.None) {
				t.Fatalf("op %d of %+v: result %d", i, before, b.dst)
			}
			if a.dst == tl.None {
				continue
			}
			if a.continues() && was[a.dst] != is[b.dst] {
				t.Fatalf("op %d of %+v goes on filling another tensor: %+v", i, before, ops)
			}
			was[a.dst], is[b.dst] = i+1, i+1
			live = 0
			for c := range int32(cells) {
				if c == a.dst || was[c] > 0 && readLater(before[i+1:], c) {
					live++
				}
			}
			most = max(most, live)
		}
		if n != most {
			t.Fatalf("%d cells for %d tensors of %+v: %+v", n, most, before, ops)
		}
	}
}

// readLater tells whether an op reads what a cell holds before them.
func readLater(ops []op, cell int32) bool {
	for i := range ops {
		o := &ops[i]
		if o.a == cell || o.b == cell || o.c == cell || o.dst == cell && o.continues() {
			return true
		}
		if o.dst == cell {
			return false
		}
	}
	return false
}
