package algorithm_test

import (
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/tl"
)

// TestPiecesFollowLatency: if a link carries megabytes in the time of one hop, a piece is a
// sixteenth of scratch memory, not a tile.
func TestPiecesFollowLatency(t *testing.T) {
	a := tl.Args{NElem: 16 << 20, DType: dtype.F32, LatencyBytes: 2 << 20}
	w := algorithm.DoubleTreeAllReduce.Path(8, 0)
	for scratch, want := range map[int64]int64{1 << 20: 64 << 10, 16 << 20: 1 << 20} {
		if got := w.Piece(a, scratch); got != want {
			t.Errorf("scratch of %d bytes: pieces of %d, want %d", scratch, got, want)
		}
	}
	if got := w.Piece(a, 1<<30); got < 2<<20 || got > 8<<20 { // sqrt(M/(2 s)) hops of 2 MiB
		t.Errorf("with 1 GiB of scratch memory a piece has %d bytes, want 2 MiB to 8 MiB", got)
	}
}
