package topology

import (
	"testing"

	"kernbench/tl"
)

// Both are trees: each rank but one has a parent, of which it is a child, and the root is
// reached in few steps. Nearly all ranks are leaves of one of the two.
func TestTwoTrees(t *testing.T) {
	for world := 1; world <= 130; world++ {
		inner := make([]int, world) // trees in which a rank has two children
		for tree := range 2 {
			roots := 0
			for r := range world {
				parent, children := TwoTreeStep(r, world, tree)
				if children[0] >= 0 && children[1] >= 0 {
					inner[r]++
				}
				for _, child := range children {
					if up, _ := TwoTreeStep(max(child, 0), world, tree); child >= 0 && up != r {
						t.Fatalf("%d ranks, tree %d: rank %d is a child of %d, but its parent is %d", world, tree, child, r, up)
					}
				}
				if parent < 0 {
					roots++
					continue
				}
				if _, siblings := TwoTreeStep(parent, world, tree); siblings[0] != r && siblings[1] != r {
					t.Fatalf("%d ranks, tree %d: rank %d has parent %d, whose children are %v", world, tree, r, parent, siblings)
				}
				depth := 0
				for up := parent; up >= 0; depth++ {
					up, _ = TwoTreeStep(up, world, tree)
				}
				if _, dims := Fold(world); depth > dims+1 {
					t.Fatalf("%d ranks, tree %d: rank %d is %d below the root", world, tree, r, depth)
				}
			}
			if roots != 1 {
				t.Fatalf("%d ranks, tree %d: %d roots", world, tree, roots)
			}
		}
		for r, trees := range inner {
			if trees > 1 {
				t.Errorf("%d ranks: rank %d has two children in both trees", world, r)
			}
		}
	}
}

func TestTwoTreesByHand(t *testing.T) {
	tests := []struct {
		world, tree, rank, parent int
		children                  [2]int
	}{
		{8, 0, 0, -1, [2]int{-1, 4}},
		{8, 0, 4, 0, [2]int{2, 6}},
		{8, 0, 6, 4, [2]int{5, 7}},
		{8, 0, 5, 6, [2]int{-1, -1}},
		{8, 1, 7, -1, [2]int{-1, 3}}, // rank 0, seen from the other end
		{8, 1, 3, 7, [2]int{5, 1}},
		{7, 0, 6, 4, [2]int{5, -1}},
		{7, 1, 1, -1, [2]int{-1, 5}}, // rank 0, one further on
		{6, 0, 5, 4, [2]int{-1, -1}}, // 6 does not exist
		{1, 1, 0, -1, [2]int{-1, -1}},
	}
	for _, tt := range tests {
		parent, children := TwoTreeStep(tt.rank, tt.world, tt.tree)
		if parent != tt.parent || children != tt.children {
			t.Errorf("rank %d of %d, tree %d: %d, %v; want %d, %v", tt.rank, tt.world, tt.tree, parent, children, tt.parent, tt.children)
		}
	}
}

// Under any root both trees have all ranks, each edge seen from both ends and a hop long, and no
// rank hands on in both.
func TestTwoTreesUnderARoot(t *testing.T) {
	for world := 1; world <= 70; world++ {
		busy := make([]int, world)
		for tree := range 2 {
			reached, deepest := 0, 0
			for rank := range world {
				parent, children := TwoTreesUnderStep(rank, world, tree)
				if (parent < 0) != (rank == 0) {
					t.Fatalf("%d ranks, tree %d: %d has parent %d", world, tree, rank, parent)
				}
				handsOn := 0
				for _, child := range children {
					if child < 0 {
						continue
					}
					handsOn = 1
					if up, _ := TwoTreesUnderStep(child, world, tree); up != rank {
						t.Errorf("%d ranks, tree %d: %d is a child of %d and has parent %d", world, tree, child, rank, up)
					}
					out, in := Hop(rank, child, world)
					if back, _ := in.Opposite(); back != out {
						t.Errorf("%d ranks: from %d to %d by %v, which is %v there", world, rank, child, out, in)
					}
				}
				if busy[rank] += handsOn; rank > 0 && busy[rank] > 1 {
					t.Errorf("%d ranks: %d hands on in both trees", world, rank)
				}
				depth := 0
				for at := rank; at > 0 && depth <= world; depth++ {
					at, _ = TwoTreesUnderStep(at, world, tree)
				}
				if depth <= world {
					reached++
				}
				deepest = max(deepest, depth)
			}
			if reached != world || deepest > Hops(world)+1 {
				t.Errorf("%d ranks, tree %d: %d ranks under the root, as deep as %d", world, tree, reached, deepest)
			}
		}
	}
}

// A hop leads from one rank to another where they are a power of two apart.
func TestHop(t *testing.T) {
	for world := 2; world <= 33; world++ {
		for rank := range world {
			for _, k := range Circulant.Links(nil, rank, world, Grid{}) {
				out, in := Hop(rank, int(k.Peer), world)
				peers := map[tl.Dir]int32{}
				for _, l := range Circulant.Links(nil, rank, world, Grid{}) {
					peers[l.Dir] = l.Peer
				}
				if peers[out] != k.Peer {
					t.Errorf("%d ranks: from %d to %d by %v, which leads to %d", world, rank, k.Peer, out, peers[out])
				}
				if back, _ := in.Opposite(); back != out {
					t.Errorf("%v arrives as %v", out, in)
				}
			}
		}
	}
}
