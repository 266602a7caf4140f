package topology

import "testing"

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
