package topology

import (
	"slices"
	"testing"

	"kernbench/tl"
)

// TestNodeTrees: three nodes of two ranks. A node has a chain for each tree, and its first rank has
// the neighbours of the node in both trees.
func TestNodeTrees(t *testing.T) {
	const world, width = 6, 2
	first, second := TwoTreeDirs[0], TwoTreeDirs[1]
	for rank, want := range [][]Link{
		{{tl.East, 1}, {first.Children[1], 4}, {ChainDirs[1].Along, 1}, {second.Parent, 2}, {second.Children[0], 4}},
		{{tl.West, 0}, {ChainDirs[1].Back, 0}},
		{{tl.East, 3}, {first.Parent, 4}, {ChainDirs[1].Along, 3}, {second.Children[1], 0}},
		{{tl.West, 2}, {ChainDirs[1].Back, 2}},
		{{tl.East, 5}, {first.Parent, 0}, {first.Children[0], 2}, {ChainDirs[1].Along, 5}, {second.Parent, 0}},
		{{tl.West, 4}, {ChainDirs[1].Back, 4}},
	} {
		if got := NodeTrees.Links(nil, rank, world, WithLevels([]int{width})); !slices.Equal(got, want) {
			t.Errorf("rank %d: %v, want %v", rank, got, want)
		}
	}
	if got, want := NodeTrees.Links(nil, 1, 3, Grid{}), []Link{
		{tl.East, 2}, {tl.West, 0}, {ChainDirs[1].Along, 2}, {ChainDirs[1].Back, 0},
	}; !slices.Equal(got, want) {
		t.Errorf("one node: %v, want %v", got, want)
	}
}
