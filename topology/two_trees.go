package topology

import (
	"math/bits"

	"kernbench/tl"
)

// TreeDirs are the names of the neighbours in one of the trees of TwoTrees.
type TreeDirs struct {
	Parent   tl.Dir
	Children [2]tl.Dir
}

// TwoTreeDirs are the directions of both trees.
var TwoTreeDirs = [2]TreeDirs{
	{tl.Parent, [2]tl.Dir{tl.Child0, tl.Child1}},
	{tl.RegisterDir("second.parent"), [2]tl.Dir{tl.RegisterDir("second.child0"), tl.RegisterDir("second.child1")}},
}

// TwoTrees is two binary trees over the same ranks. Nearly every rank is a leaf of one and has
// children in the other, as TwoTreeStep counts.
var TwoTrees = Register(Topology{
	Name:    "two_trees",
	Summary: "two binary trees in which nearly every rank is a leaf of one: parent, child0, child1, and the same after second.",
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		for tree, dirs := range TwoTreeDirs {
			parent, children := TwoTreeStep(rank, world, tree)
			if parent >= 0 {
				dst = append(dst, Link{dirs.Parent, int32(parent)})
			}
			for k, child := range children {
				if child >= 0 {
					dst = append(dst, Link{dirs.Children[k], int32(child)})
				}
			}
		}
		return dst
	},
})

// TwoTreeStep is rank's place in tree 0 or 1: its parent and its children, -1 for none.
//
// In the first tree odd ranks are leaves, and a rank whose lowest set bit is 2^b has height b. The
// second tree is the first with the ranks in reverse order, which turns even numbers into odd ones.
// With an odd number of ranks they are shifted by one instead.
func TwoTreeStep(rank, world, tree int) (parent int, children [2]int) {
	to := func(r int) int { return r }
	from := to
	switch {
	case tree == 1 && world%2 == 0:
		to = func(r int) int { return world - 1 - r }
		from = to
	case tree == 1:
		to = func(r int) int { return mod(r-1, world) }
		from = func(r int) int { return mod(r+1, world) }
	}
	parent, children = evenTree(to(rank), world)
	if parent >= 0 {
		parent = from(parent)
	}
	for k, child := range children {
		if child >= 0 {
			children[k] = from(child)
		}
	}
	return parent, children
}

// evenTree returns the first of the trees. Rank 0 is the root: its only child is the greatest power
// of two. Where the parent of a rank would not exist, the rank on its other side is the parent.
func evenTree(r, world int) (parent int, children [2]int) {
	step := r & -r // to the parent; half of it to the children
	parent, children = -1, [2]int{-1, -1}
	if r == 0 {
		step = 1 << bits.Len(uint(world-1))
	} else if parent = (r - step) | step<<1; parent >= world {
		parent = r - step
	}
	if r > 0 && step > 1 {
		children[0] = r - step/2
	}
	for half := step / 2; half > 0; half /= 2 {
		if r+half < world {
			children[1] = r + half
			break
		}
	}
	return parent, children
}

// TwoTreesUnderStep returns rank's place in tree 0 or 1 of two binary trees over all ranks but the
// root. Ranks are counted from the root, which is 0 and above both trees. The place is its parent
// and its children, -1 for none. All ranks but the root are a leaf of one tree at least. Each edge
// spans a power of two of ranks, so that Circulant has it for any root.
func TwoTreesUnderStep(rank, world, tree int) (parent int, children [2]int) {
	nodes := world - 1
	if rank == 0 {
		return -1, [2]int{-1, underRoot(nodes, tree)}
	}
	shift, mirror, extra := 1, false, -1 // of the numbers in evenTree; extra: the rank that has none of them
	if tree == 1 && nodes%2 == 0 {
		mirror = true
	} else if tree == 1 && nodes > 1 {
		shift, extra = 2, 1 // under the first of the others, which has one child
		nodes--
	}
	if rank == extra {
		return shift, [2]int{-1, -1}
	}
	convert := func(i int) int {
		if mirror {
			return nodes - i
		}
		return i + shift
	}
	at := rank - shift
	if mirror {
		at = nodes - rank
	}
	parent, children = evenTree(at, nodes)
	if parent < 0 {
		parent = 0
	} else {
		parent = convert(parent)
	}
	for k, child := range children {
		if child >= 0 {
			children[k] = convert(child)
		}
	}
	if at == 0 {
		children[0] = extra
	}
	return parent, children
}

// underRoot returns the first rank of a tree, or none.
func underRoot(nodes, tree int) int {
	switch {
	case nodes == 0:
		return -1
	case tree == 1 && nodes%2 == 0:
		return nodes
	case tree == 1 && nodes > 1:
		return 2
	}
	return 1
}
