package algorithm_test

import (
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	labrun "kernbench/lab/run"
	"kernbench/tl"
)

// Chunks that differ by one element have the same number of strips. The last strip of one chunk may
// be empty.
func TestStripsOfUnequalChunks(t *testing.T) {
	const tile = 64 << 10 / 8
	for _, a := range []*algorithm.Algorithm{algorithm.RingReduceScatter, algorithm.ScatterAllGatherBroadcast} {
		for _, n := range []int{3*tile - 1, 3 * tile, 3*tile + 1} {
			check(t, a, run{size: size{world: 3, n: n}, typ: dtype.F64, op: tl.Max})
		}
	}
}

// A vector longer than a PE's scratch memory goes through rings in tiles.
func TestRingsBeyondScratch(t *testing.T) {
	for _, a := range []*algorithm.Algorithm{
		algorithm.RingAllGather, algorithm.RecursiveDoublingAllGather, algorithm.RingReduceScatter, algorithm.RingSendRecv,
		algorithm.BinomialBroadcast, algorithm.ChainBroadcast, algorithm.ScatterAllGatherBroadcast,
		algorithm.BinomialReduce, algorithm.ChainReduce,
	} {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			const n = 100_000 // 800 kB
			onSim(t, a, labrun.Spec{Ranks: 2, NElem: n, DType: dtype.F64, Op: tl.Max, Sets: []string{"pe.tcm.scratch=512KiB"}})
		})
	}
}
