package algorithm

import (
	"math/bits"
	"slices"

	"kernbench/tl"
	"kernbench/topology"
)

// Path is a sequence of ranks through which an algorithm on rings passes a part of a vector, in a
// chain or a tree. Each rank holds a whole piece before it sends the piece on, in the order of the
// pieces. Of several paths it is one of the longest.
type Path struct {
	Ranks  []int
	Parts  int // in which the vector is cut, each with a path of its own
	Stages int // in the formula for pieces; 0: the algorithm is not Pipelined
}

// Piece returns the length in bytes of the pieces that a launch sends along the path. It depends on
// the scratch memory of the PEs, and is 0 if it is unknown.
func (w Path) Piece(a tl.Args, scratch int64) int64 {
	n := a.NElem / w.Parts
	if w.Stages == 0 || n == 0 {
		return 0
	}
	return int64(tl.CDiv(n, pieces(scratch, a, n, w.Stages)) * a.DType.Size())
}

// chainFrom returns the path from the root round to the rank before it.
func chainFrom(world, root int) Path {
	w := Path{Parts: 1, Stages: world - 1}
	for i := range world {
		w.Ranks = append(w.Ranks, rooted{root: root, n: world}.rank(i))
	}
	return w
}

// chainTo returns the same path backwards.
func chainTo(world, root int) Path { return backwards(chainFrom(world, root)) }

func backwards(w Path) Path {
	slices.Reverse(w.Ranks)
	return w
}

// binomialFrom returns the path to one of the deepest ranks of the binomial tree.
func binomialFrom(world, root int) Path {
	r, w := rooted{root: root, n: world}, Path{Parts: 1}
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

// binomialTo returns the same path in reverse.
func binomialTo(world, root int) Path { return backwards(binomialFrom(world, root)) }

// binomialAndBack goes up and down again.
func binomialAndBack(world, _ int) Path { return andBack(binomialTo(world, 0)) }

// treeAndBack goes up a binary tree from its last rank, and down again.
func treeAndBack(world, _ int) Path {
	w := Path{Parts: 1}
	for rank := world - 1; rank >= 0; rank, _ = topology.TreeStep(rank, world) {
		w.Ranks = append(w.Ranks, rank)
	}
	return andBack(w)
}

// firstOfTwoTrees returns the path of one half of the vector, up and down its tree.
func firstOfTwoTrees(world, _ int) Path {
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
	return andBack(Path{Ranks: longest, Parts: 2, Stages: 2 * bits.Len(uint(world))})
}

// andBack continues from the last rank of a path back to the first.
func andBack(w Path) Path {
	for i := len(w.Ranks) - 2; i >= 0; i-- {
		w.Ranks = append(w.Ranks, w.Ranks[i])
	}
	return w
}
