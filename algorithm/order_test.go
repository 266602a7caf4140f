package algorithm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/kerneltest"
)

// In floating point the order of the additions is part of the result. On rings and chains, and with
// one partner after another, each rank adds in a known order.
func TestReductionOrder(t *testing.T) {
	const n, root = 61, 1 // uneven chunks
	tests := []struct {
		a     *algorithm.Algorithm
		order func(world, rank int) []int
	}{
		{algorithm.RingReduceScatter, func(world, rank int) []int { return walk(world, rank+1, 1) }},
		{algorithm.PairwiseReduceScatter, func(world, rank int) []int { return walk(world, rank, -1) }},
		{algorithm.ChainReduce, func(world, rank int) []int { return walk(world, rank-1, -1) }},
	}
	for _, tt := range tests {
		for _, typ := range []dtype.Type{dtype.F32, dtype.BF16, dtype.F16} {
			for _, world := range []int{3, 4, 7} {
				t.Run(fmt.Sprintf("%s/%v/%d", tt.a.Name, typ, world), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(world), 1))
					in := filled(world, n, func(int, int) float64 { return math.Ldexp(rng.Float64()-0.5, rng.IntN(12)) })
					co, err := collective.Lookup(tt.a.Collective)
					if err != nil {
						t.Fatal(err)
					}
					call := collective.Call{World: world, Elems: n, Type: typ, Root: root}
					cfg := kerneltest.Config{Topology: tt.a.Topology, Inputs: in, DType: typ,
						OutElems: outElems(co, call), Args: []int{root, 4}}
					if tt.a.Window != nil {
						if cfg.Layout, err = tt.a.Window(world, n, typ); err != nil {
							t.Fatal(err)
						}
					}
					matters := false
					for rank, got := range kerneltest.Once(t, tt.a.Kernel, cfg) {
						order := tt.order(world, rank)
						backwards := slices.Clone(order)
						slices.Reverse(backwards)
						base := 0
						if parts := co.Parts(nil, call, rank); len(parts) > 0 {
							base = int(parts[0].Base)
						}
						for i, v := range got {
							want := sumInOrder(typ, in, base+i, order)
							if v != want {
								t.Fatalf("rank %d, element %d: %v, want %v, the sum in the order %v", rank, i, v, want, order)
							}
							matters = matters || want != sumInOrder(typ, in, base+i, backwards)
						}
					}
					if !matters {
						t.Error("the inputs give the same sum in both orders, so they test nothing")
					}
				})
			}
		}
	}
}
