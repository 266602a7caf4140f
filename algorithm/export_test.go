package algorithm

import (
	"math"

	"kernbench/tl"
)

// NVLSTree returns the kernel of nvls_tree_allreduce with a number of pieces, and with a mistake if
// mistake is not empty.
func NVLSTree(pieces int, mistake string) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		t := newNodeTree(c, a, innermost(levelWidths(c, a)), pieces)
		switch mistake {
		case "no barrier in the node":
			t.lastBarrier = math.MaxInt
		case "no wait for what children send":
			clear(t.arrived)
		}
		t.run()
	}
}

// SHARP returns the kernel of sharp_allreduce with a number of pieces, and with a mistake if
// mistake is not empty.
func SHARP(pieces int, mistake string) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		s := newSharp(c, a, innermost(levelWidths(c, a)), pieces)
		switch mistake {
		case "no barrier in the node":
			s.inNode.peers = []int{}
		case "no barrier over the rail":
			s.overRail.peers = []int{}
		}
		s.run()
	}
}

// LinkTree is a rank's place in a tree of torus_broadcast.
type LinkTree struct {
	Depth int
	From  tl.Dir
	To    []tl.Dir
}

// LinkTrees returns a rank's places in all trees of a root, on a torus with the given levels.
func LinkTrees(levels []int, rank, root int) (all []LinkTree) {
	var dims []levelCircle
	for k, n := range levels {
		dims = append(dims, levelCircle{level: k, n: n})
	}
	setPositions(dims, rank)
	for _, t := range linkTrees(dims, root) {
		all = append(all, LinkTree{t.depth, t.from, t.to})
	}
	return all
}
