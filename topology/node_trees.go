package topology

import "kernbench/tl"

// ChainDirs are the directions of the chains of NodeTrees: along the chain, and back to its first
// rank. Each of the two trees has its own.
var ChainDirs = [2]struct{ Along, Back tl.Dir }{
	{tl.East, tl.West},
	{tl.RegisterDir("second.E"), tl.RegisterDir("second.W")},
}

// NodeWidth returns the ranks of a node of NodeTrees, for a machine with these widths of levels.
func NodeWidth(world int, levels []int) int {
	if all := LevelsOf(world, levels); len(all) > 1 {
		return all[0]
	}
	return world
}

// NodeTrees is two binary trees over the first ranks of all nodes, with a chain in each node from
// its first rank on. A node is a part of the innermost level of the machine.
var NodeTrees = Register(Topology{
	Name:    "node_trees",
	Summary: "a chain in each node, E and W, and two binary trees over the first ranks of the nodes, with the names of two_trees",
	Nested:  true,
	Links: func(dst []Link, rank, world int, g Grid) []Link {
		width := NodeWidth(world, g.given())
		place := rank % width
		for tree, dirs := range TwoTreeDirs {
			if place+1 < width {
				dst = append(dst, Link{ChainDirs[tree].Along, int32(rank + 1)})
			}
			if place > 0 {
				dst = append(dst, Link{ChainDirs[tree].Back, int32(rank - 1)})
				continue
			}
			parent, children := TwoTreeStep(rank/width, world/width, tree)
			if parent >= 0 {
				dst = append(dst, Link{dirs.Parent, int32(parent * width)})
			}
			for k, child := range children {
				if child >= 0 {
					dst = append(dst, Link{dirs.Children[k], int32(child * width)})
				}
			}
		}
		return dst
	},
})
