package algorithm

import (
	"fmt"
	"math"

	"kernbench/dtype"
	"kernbench/tl"
)

// This file is what pipelines along a chain of ranks have in common: they cut the vector in
// pieces, so that a rank hands on one piece while it receives the next. With c pieces the last
// one has passed N-1 ranks after N-2+c steps of alpha + beta M/c, which is least for
//
//	c = sqrt((N-2) beta M / alpha)
//
// A launch says with its second number how many pieces there are; 0, or no such number, leaves
// it to that formula.

// latencyBytes is alpha/beta, in which the machine enters the formula: what a link carries in
// the time that an empty message takes from one rank to the next. It is of the order that the
// default machine has; twice or half of it costs a few per cent.
const latencyBytes = 4096

// pieces is the number of pieces of a vector for a chain of n ranks.
func pieces(c *tl.Context, a tl.Args) int {
	asked := 0
	if len(a.Ints) > 1 {
		asked = a.Int(1)
	}
	switch {
	case asked < 0:
		panic(fmt.Sprintf("%d pieces: one or more, or 0 for as many as are best", asked))
	case asked == 0:
		asked = bestPieces(c.WorldSize(), a.NElem, a.DType)
	}
	return max(1, min(asked, a.NElem))
}

// bestPieces is the number of pieces by the formula, but as many as it takes that none is longer
// than a tile.
func bestPieces(ranks, elems int, t dtype.Type) int {
	bytes := float64(elems) * float64(t.Size())
	best := math.Round(math.Sqrt(float64(max(0, ranks-2)) * bytes / latencyBytes))
	return max(int(best), tl.CDiv(elems, tileBytes/t.Size()))
}

// rootAndPieces are the numbers of a launch that says nothing: the root is rank 0, and pieces
// are as many as are best.
func rootAndPieces(int, int) []int { return []int{0, 0} }
