package topology

import "kernbench/tl"

// TreeBinary is the complete binary tree in which rank r's parent is (r-1)/2, as TreeStep
// counts.
var TreeBinary = Register(Topology{
	Name:    "tree_binary",
	Summary: "a binary tree: parent is (rank-1)/2, child0 and child1 are 2*rank+1 and 2*rank+2",
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		if rank > 0 {
			dst = append(dst, Link{tl.Parent, int32((rank - 1) / 2)})
		}
		for k, dir := range [2]tl.Dir{tl.Child0, tl.Child1} {
			if c := 2*rank + 1 + k; c < world {
				dst = append(dst, Link{dir, int32(c)})
			}
		}
		return dst
	},
})
