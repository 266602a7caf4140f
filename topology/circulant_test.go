package topology

import (
	"fmt"
	"testing"

	"kernbench/tl"
)

// Each child has its parent for parent, and each rank but the root is the child of one rank. The
// ranks below a child are consecutive.
func TestBinomialStep(t *testing.T) {
	for world := 1; world <= 33; world++ {
		below := make([]int, world) // ranks in the tree of each, itself included
		for rank := world - 1; rank >= 0; rank-- {
			up, children := BinomialStep(rank, world)
			if (up < 0) != (rank == 0) {
				t.Fatalf("%d ranks: rank %d has parent hop %d", world, rank, up)
			}
			below[rank] = 1
			for k := range children {
				child := rank + 1<<k
				if from, _ := BinomialStep(child, world); from != k {
					t.Fatalf("%d ranks: rank %d has child %d, whose parent hop is %d", world, rank, child, from)
				}
				if want := min(1<<k, world-child); below[child] != want {
					t.Fatalf("%d ranks: %d ranks below child %d, want %d", world, below[child], child, want)
				}
				below[rank] += below[child]
			}
		}
		if below[0] != world {
			t.Errorf("%d ranks: the tree has %d", world, below[0])
		}
	}
}

// The hops of a world reach all other ranks, and no more of them are needed.
func TestHops(t *testing.T) {
	for _, tt := range []struct{ world, hops int }{{0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {8, 3}, {9, 4},
		{1 << 20, 20}, {1<<20 + 1, 21}} {
		if got := Hops(tt.world); got != tt.hops {
			t.Errorf("Hops(%d) = %d, want %d", tt.world, got, tt.hops)
		}
	}
	seen := map[tl.Dir]bool{}
	for k := range MaxHops {
		east, west := HopEast(k), HopWest(k)
		if o, ok := east.Opposite(); !ok || o != west || seen[east] || seen[west] {
			t.Errorf("hop %d: %v and %v", k, east, west)
		}
		seen[east], seen[west] = true, true
	}
}

func ExampleBinomialStep() {
	for rank := range 6 {
		up, children := BinomialStep(rank, 6)
		fmt.Println("rank", rank, "parent hop", up, "children", children)
	}
	// Output:
	// rank 0 parent hop -1 children 3
	// rank 1 parent hop 0 children 0
	// rank 2 parent hop 1 children 1
	// rank 3 parent hop 0 children 0
	// rank 4 parent hop 2 children 1
	// rank 5 parent hop 0 children 0
}
