package algorithm_test

import (
	"testing"

	"kernbench/algorithm"
	"kernbench/kerneltest"
	"kernbench/unit"
)

// TestRingInPieces: a vector longer than a third of scratch memory goes around the ring in pieces.
func TestRingInPieces(t *testing.T) {
	const world, n = 3, 100
	in := make([][]float64, world)
	for r := range in {
		in[r] = make([]float64, n)
		for i := range in[r] {
			in[r][i] = float64(100*r + i)
		}
	}
	for _, scratch := range []unit.Bytes{48, 400, 1199, 1200} {
		cfg := kerneltest.Config{Inputs: in, Scratch: scratch, SlotBytes: 64}
		for r, out := range kerneltest.Once(t, algorithm.RingAllReduce.Kernel, cfg) {
			for i, v := range out {
				if want := float64(300 + 3*i); v != want {
					t.Fatalf("scratch %v, rank %d, element %d: %v, want %v", scratch, r, i, v, want)
				}
			}
		}
	}
}
