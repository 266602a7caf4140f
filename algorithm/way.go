package algorithm

import (
	"math/bits"
	"slices"

	"kernbench/tl"
	"kernbench/topology"
)

// Way is how an algorithm on rings brings a vector along a chain or a tree: ranks that every piece
// of a part passes one after the other, and each of them has all of the piece before it hands it
// on, in the order of the pieces. Of several ways it is one of the longest.
type Way struct {
	Ranks  []int
	Parts  int // in which the vector is cut, each with a way of its own
	Stages int // in the formula for pieces; 0: the algorithm is not Pipelined
}

// Piece is how long the pieces are, in bytes, that a launch sends along such a way; 0: not said.
func (w Way) Piece(a tl.Args) int64 {
	n := a.NElem / w.Parts
	if w.Stages == 0 || n == 0 {
		return 0
	}
	return int64(tl.CDiv(n, pieces(a, n, w.Stages)) * a.DType.Size())
}

// chainFrom is the way from the root round to the rank before it.
func chainFrom(world, root int) Way {
	w := Way{Parts: 1, Stages: world - 1}
	for i := range world {
		w.Ranks = append(w.Ranks, rooted{root: root, n: world}.rank(i))
	}
	return w
}

// chainTo is the same way back.
func chainTo(world, root int) Way { return backwards(chainFrom(world, root)) }

func backwards(w Way) Way {
	slices.Reverse(w.Ranks)
	return w
}

// binomialFrom is the way to a rank that has the most ranks above it in the binomial tree.
func binomialFrom(world, root int) Way {
	r, w := rooted{root: root, n: world}, Way{Parts: 1}
	deepest := 1<<(bits.Len(uint(world))-1) - 1
	for i := deepest; ; {
		w.Ranks = append(w.Ranks, r.rank(i))
		up, _ := topology.BinomialStep(i, world)
		if up < 0 {
			return backwards(w)
		}
		i -= 1 << up
	}
}

// binomialTo is the same way back.
func binomialTo(world, root int) Way { return backwards(binomialFrom(world, root)) }

// binomialAndBack goes up and down again.
func binomialAndBack(world, _ int) Way { return andBack(binomialTo(world, 0)) }

// treeAndBack goes up a binary tree from its last rank, and down again.
func treeAndBack(world, _ int) Way {
	w := Way{Parts: 1}
	for rank := world - 1; rank >= 0; rank, _ = topology.TreeStep(rank, world) {
		w.Ranks = append(w.Ranks, rank)
	}
	return andBack(w)
}

// firstOfTwoTrees is the way of one half of the vector, up and down its tree.
func firstOfTwoTrees(world, _ int) Way {
	var longest []int
	for rank := range world {
		var up []int
		for at := rank; at >= 0; at, _ = topology.TwoTreeStep(at, world, 0) {
			up = append(up, at)
		}
		if len(up) > len(longest) {
			longest = up
		}
	}
	return andBack(Way{Ranks: longest, Parts: 2, Stages: 2 * bits.Len(uint(world))})
}

// andBack goes on from the last rank of a way back to the first.
func andBack(w Way) Way {
	for i := len(w.Ranks) - 2; i >= 0; i-- {
		w.Ranks = append(w.Ranks, w.Ranks[i])
	}
	return w
}
