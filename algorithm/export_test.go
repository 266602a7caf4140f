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
