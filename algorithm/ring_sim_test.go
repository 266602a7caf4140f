package algorithm_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/lab"
	"kernbench/tl"
)

// The simulated machine gives each result that the executor without a clock does, where messages
// go through rings, on ranks that fill a cube and on more.
func TestRingsOnSim(t *testing.T) {
	for _, a := range algorithm.All() {
		if a.Window != nil || a.Collective == "all_reduce" {
			continue // these have their tests
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			k := 0
			for _, world := range []int{1, 2, 3, 8, 17} {
				for _, n := range []int{1, 7 * world, 3000 * world} {
					if a.Check != nil && a.Check(world, n) != nil {
						continue
					}
					typ, op := dtype.Types()[k%len(dtype.Types())], ops(t, a)[k%len(ops(t, a))]
					t.Run(fmt.Sprintf("%d/%d/%v/%v", world, n, typ, op), func(t *testing.T) {
						onSim(t, a, lab.Spec{Ranks: world, NElem: n, DType: typ, Op: op})
					})
					k++
				}
			}
		})
	}
}

// A vector longer than a PE's scratch memory goes through rings where nothing has to be held.
func TestCopiesBeyondScratch(t *testing.T) {
	for _, a := range []*algorithm.Algorithm{
		algorithm.RingAllGather, algorithm.RecursiveDoublingAllGather, algorithm.RingSendRecv,
		algorithm.BinomialBroadcast, algorithm.BinomialReduce,
	} {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			const n = 100_000 // 800 kB
			onSim(t, a, lab.Spec{Ranks: 2, NElem: n, DType: dtype.F64, Op: tl.Max, Sets: []string{"pe.tcm.scratch=512KiB"}})
		})
	}
}
