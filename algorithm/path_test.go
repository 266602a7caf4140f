package algorithm_test

import (
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/topology"
)

func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		a           *algorithm.Algorithm
		world, root int
		want        []int
	}{
		{algorithm.ChainBroadcast, 4, 1, []int{1, 2, 3, 0}},
		{algorithm.ChainReduce, 4, 1, []int{0, 3, 2, 1}},
		{algorithm.BinomialBroadcast, 8, 0, []int{0, 4, 6, 7}},
		{algorithm.BinomialBroadcast, 5, 2, []int{2, 4, 0}},
		{algorithm.BinomialReduce, 5, 2, []int{0, 4, 2}},
		{algorithm.BinomialAllReduce, 4, 0, []int{3, 2, 0, 2, 3}},
		{algorithm.TreeAllReduce, 6, 0, []int{5, 2, 0, 2, 5}},
		{algorithm.TreeAllReduce, 1, 0, []int{0}},
	} {
		if got := tt.a.Path(tt.world, tt.root); !slices.Equal(got.Ranks, tt.want) {
			t.Errorf("%s of %d ranks, root %d: %v, want %v", tt.a.Name, tt.world, tt.root, got.Ranks, tt.want)
		}
	}
}

// Consecutive ranks of a path are neighbours in the algorithm's topology.
func TestPathsGoAlongNeighbours(t *testing.T) {
	for _, a := range algorithm.All() {
		if a.Path == nil {
			continue
		}
		top, err := topology.Lookup(a.Topology)
		if err != nil {
			t.Fatal(err)
		}
		for world := 1; world <= 33; world++ {
			wiring, err := top.Wire(world, topology.Grid{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			w := a.Path(world, world/2)
			for i := range w.Ranks[1:] {
				from, to := w.Ranks[i], w.Ranks[i+1]
				if !slices.ContainsFunc(wiring[from].Out, func(o tl.OutPort) bool { return int(o.Peer) == to }) {
					t.Errorf("%s of %d ranks: from %d to %d there is no ring", a.Name, world, from, to)
				}
			}
		}
	}
}

// Piece returns the length of the pieces that kernels use.
func TestPieceOfPath(t *testing.T) {
	for _, tt := range []struct {
		a     *algorithm.Algorithm
		chunk int64
		want  int64
	}{
		{algorithm.ChainBroadcast, 0, 4372},      // sqrt(15 · 64 KiB / 4 KiB) = 15.49: 15 pieces
		{algorithm.ChainBroadcast, 100, 100},     // as requested
		{algorithm.DoubleTreeAllReduce, 0, 4096}, // sqrt(9 · 32 KiB / 4 KiB) = 8.49: 8 pieces of a half
		{algorithm.BinomialBroadcast, 0, 0},      // whole vectors, in tiles
	} {
		w := tt.a.Path(17, 0)
		if got := w.Piece(tl.Args{NElem: 1 << 14, DType: dtype.F32, ChunkBytes: tt.chunk}, 1<<20); got != tt.want {
			t.Errorf("%s: pieces of %d bytes, want %d", tt.a.Name, got, tt.want)
		}
	}
}
