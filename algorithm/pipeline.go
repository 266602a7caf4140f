package algorithm

import (
	"math"

	"kernbench/tl"
)

// This file is shared by pipelines. They cut a vector into pieces, so that a rank sends one piece
// on while it receives the next. With c pieces the last one has passed s stages after s-1+c steps
// of alpha + beta M/c, which is least for
//
//	c = sqrt((s-1) beta M / alpha)
//
// A launch sets the length of a piece, or leaves it to that formula.

// usualLatencyBytes is alpha/beta of an unknown machine, near that of the default one. Twice or
// half of it costs a few per cent.
const usualLatencyBytes = 4096

// pieces returns the number of pieces in which n elements go through the stages. It follows the
// formula, and is large enough that no piece is longer than a sixteenth of scratch memory. A kernel
// holds several at a time. Shorter pieces would each wait for a hop that software makes long.
func pieces(scratch int64, a tl.Args, n, stages int) int {
	size := a.DType.Size()
	if a.ChunkBytes > 0 {
		return max(1, tl.CDiv(n, max(1, int(a.ChunkBytes)/size)))
	}
	latency := float64(usualLatencyBytes)
	if a.LatencyBytes > 0 {
		latency = float64(a.LatencyBytes)
	}
	best := math.Round(math.Sqrt(float64(max(0, stages-1)) * float64(n) * float64(size) / latency))
	return max(1, min(n, max(int(best), tl.CDiv(n, max(tileBytes, int(scratch/16))/size))))
}
