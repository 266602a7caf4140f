package topology

import (
	"fmt"
	"maps"
	"testing"

	"kernbench/mem"
	"kernbench/tl"
)

// The chunk that a rank receives is the one that its predecessor sends, and the parts
// that an algorithm adds up are each rank's once.
func TestRingSteps(t *testing.T) {
	for _, world := range []int{1, 2, 3, 5, 8} {
		held := make([]map[int]map[int]bool, world) // rank, chunk -> contributors
		for r := range held {
			held[r] = map[int]map[int]bool{}
			for c := range world {
				held[r][c] = map[int]bool{r: true}
			}
		}
		move := func(step func(rank, step, world int) (int, int), merge bool) {
			for s := range world - 1 {
				sent := make([]map[int]bool, world)
				for r := range world {
					send, _ := step(r, s, world)
					sent[r] = maps.Clone(held[r][send])
				}
				for r := range world {
					prev := (r + world - 1) % world
					_, recv := step(r, s, world)
					if send, _ := step(prev, s, world); send != recv {
						t.Fatalf("world %d step %d: rank %d receives chunk %d, its predecessor sends %d", world, s, r, recv, send)
					}
					if !merge {
						held[r][recv] = sent[prev]
						continue
					}
					for c := range sent[prev] {
						if held[r][recv][c] {
							t.Fatalf("world %d: rank %d counted twice in chunk %d", world, c, recv)
						}
						held[r][recv][c] = true
					}
				}
			}
		}
		move(RingStep, true)
		for r := range world {
			if c := (r + 1) % world; len(held[r][c]) != world {
				t.Fatalf("world %d: chunk %d of rank %d has %d contributors", world, c, r, len(held[r][c]))
			}
		}
		move(RingGatherStep, false)
		for r := range world {
			for c := range world {
				if len(held[r][c]) != world {
					t.Fatalf("world %d: after the gather, chunk %d of rank %d has %d contributors", world, c, r, len(held[r][c]))
				}
			}
		}
	}
}

func TestTreeStepAgreesWithTreeBinary(t *testing.T) {
	for _, world := range []int{1, 2, 3, 4, 5, 7, 31} {
		ms, err := TreeBinary.Maps(world, Grid{})
		if err != nil {
			t.Fatal(err)
		}
		for r, m := range ms {
			parent, children := TreeStep(r, world)
			want := map[tl.Dir]int{}
			if parent >= 0 {
				want[tl.Parent] = parent
			}
			for k, c := range children {
				want[tl.Child0+tl.Dir(k)] = c
			}
			if !maps.Equal(m, want) {
				t.Errorf("world %d rank %d: TreeStep %v, tree_binary %v", world, r, want, m)
			}
		}
	}
}

func ExampleRingStep() {
	const world, elems = 4, 10
	for step := range world - 1 {
		send, recv := RingStep(0, step, world)
		fmt.Println("rank 0 sends", mem.ChunkOf(elems, world, send), "receives", mem.ChunkOf(elems, world, recv))
	}
	// Output:
	// rank 0 sends {0 3} receives {8 2}
	// rank 0 sends {8 2} receives {6 2}
	// rank 0 sends {6 2} receives {3 3}
}
