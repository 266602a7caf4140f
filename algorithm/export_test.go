package algorithm

import (
	"math"

	"kernbench/tl"
)

// NVLSTree is nvls_tree_allreduce with a given number of pieces, and with a mistake or without.
func NVLSTree(pieces int, mistake string) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		t := newNodeTree(c, a, innermost(levelWidths(c, a)), pieces)
		switch mistake {
		case "the node does not meet":
			t.met = math.MaxInt
		case "no wait for what children send":
			clear(t.arrived)
		}
		t.run()
	}
}

// SHARP is sharp_allreduce with a given number of pieces, and with a mistake or without.
func SHARP(pieces int, mistake string) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		s := newSharp(c, a, innermost(levelWidths(c, a)), pieces)
		switch mistake {
		case "the node does not meet":
			s.inNode.peers = []int{}
		case "the rail does not meet":
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

// LinkTrees returns a rank's places in all trees from a root on a torus of some levels.
func LinkTrees(levels []int, rank, root int) (all []LinkTree) {
	var dims []levelCircle
	for k, n := range levels {
		dims = append(dims, levelCircle{level: k, n: n})
	}
	stand(dims, rank)
	for _, t := range linkTrees(dims, root) {
		all = append(all, LinkTree{t.depth, t.from, t.to})
	}
	return all
}
