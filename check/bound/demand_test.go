package bound

import (
	"fmt"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
)

// needs lists what a call moves, by its meaning alone: which piece of data some rank needs of
// another. A piece is an element of one rank's contribution or, of a reduction, of the result.
type needs struct {
	pieces map[piece]bool
}

type piece struct {
	from, to int
	key      [2]int64 // pieces that need to go once only
}

func meaning(co *collective.Collective, c collective.Call) needs {
	n := needs{pieces: map[piece]bool{}}
	for to := range c.World {
		for _, p := range co.Parts(nil, c, to) {
			for j := range p.N {
				for i := range p.From.N {
					from := p.From.At(i)
					key := [2]int64{int64(from), p.Base + int64(j)}
					if co.Reduces {
						key[0] = -1
					}
					if from != to {
						n.pieces[piece{from, to, key}] = true
					}
				}
			}
		}
	}
	return n
}

func (n needs) crossing(inside func(int) bool) int64 {
	once := map[[2]int64]bool{}
	for p := range n.pieces {
		if inside(p.from) && !inside(p.to) {
			once[p.key] = true
		}
	}
	return int64(len(once))
}

func calls(yield func(*collective.Collective, collective.Call) bool) {
	for _, co := range collective.All() {
		for world := 1; world <= 5; world++ {
			for _, elems := range []int{0, 1, 3, 4, 5, 12, 60} {
				for _, root := range []int{0, world - 1} {
					c := collective.Call{World: world, Elems: elems, Type: dtype.F32, Root: root}
					if co.Check(c) == nil && !yield(co, c) {
						return
					}
					if !co.Counted {
						continue
					}
					c.Counts = make([][]int, world)
					for r := range c.Counts {
						for d := range world {
							c.Counts[r] = append(c.Counts[r], (r*7+d*3+elems)%5)
						}
					}
					if !yield(co, c) {
						return
					}
				}
			}
		}
	}
}

// For any set of ranks, a demand equals the one that follows from the definition of the collective.
// The test covers all collectives.
func TestDemandsFollowTheMeaning(t *testing.T) {
	for co, c := range calls {
		name := fmt.Sprintf("%s/%d ranks/%d elements/root %d/counts %v", co.Name, c.World, c.Elems, c.Root, c.Counts != nil)
		d, err := newDemand(co, c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		means := meaning(co, c)
		for set := range 1 << c.World {
			inside := func(r int) bool { return set>>r&1 == 1 }
			if got, want := d.crossing(inside), means.crossing(inside); got != want {
				t.Errorf("%s: %d elements leave the ranks %b, want %d", name, got, set, want)
			}
		}
		l := d.locals()
		for r := range c.World {
			alone := func(i int) bool { return i == r }
			others := func(i int) bool { return i != r }
			if got, want := l.leaves[r], means.crossing(alone); got != want {
				t.Errorf("%s: %d elements leave rank %d, want %d", name, got, r, want)
			}
			if got, want := l.enters[r], means.crossing(others); got != want {
				t.Errorf("%s: %d elements enter rank %d, want %d", name, got, r, want)
			}
			reads, writes := map[int64]bool{}, int64(0)
			for _, p := range co.Parts(nil, c, r) {
				if p.From.N > 1 || p.From.At(0) != r {
					writes += int64(p.N)
				}
			}
			for to := range c.World {
				for _, p := range co.Parts(nil, c, to) {
					for i := range p.From.N {
						if p.From.At(i) == r && to != r {
							for j := range p.N {
								reads[p.Base+int64(j)] = true
							}
						}
					}
				}
			}
			if l.reads[r] != int64(len(reads)) || l.writes[r] != writes {
				t.Errorf("%s: rank %d reads %d and writes %d elements, want %d and %d", name, r, l.reads[r],
					l.writes[r], len(reads), writes)
			}
			for on := range c.World {
				depends := false
				for p := range means.pieces {
					depends = depends || p.from == on && p.to == r
				}
				if d.pattern == meeting {
					depends = on != r
				}
				if len(d.flows) == 0 && d.depends(on, r) != depends {
					t.Errorf("%s: rank %d depends on %d: %t, want %t", name, r, on, d.depends(on, r), depends)
				}
			}
		}
	}
}

func TestDemandRefusesWhatCannotBeCounted(t *testing.T) {
	co, err := collective.Lookup("all_gather")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newDemand(co, collective.Call{World: 1 << 12, Elems: 1 << 40, Type: dtype.F64}); err == nil {
		t.Error("2^40 elements among 2^12 ranks are no error")
	}
	if _, err := newDemand(co, collective.Call{World: 0, Elems: 1, Type: dtype.F64}); err == nil {
		t.Error("no ranks are no error")
	}
}
