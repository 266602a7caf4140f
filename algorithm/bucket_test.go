package algorithm_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// TestBuckets: on machines of one to four levels every rank ends with the reduced vector. Some
// chunks are empty, and some rings have unequal lengths.
func TestBuckets(t *testing.T) {
	for _, a := range []*algorithm.Algorithm{algorithm.BucketAllReduce, algorithm.HierarchicalRingAllReduce,
		algorithm.HierarchicalPipelinedAllReduce} {
		for _, levels := range [][]int{{1}, {2}, {5}, {2, 2}, {4, 3}, {2, 3, 2}, {2, 2, 2, 3}} {
			world := 1
			for _, n := range levels {
				world *= n
			}
			for _, n := range []int{1, 7, world * 24, 1000} {
				for _, op := range []tl.ReduceOp{tl.Sum, tl.Avg, tl.Max} {
					if !exhaustive.On() && op != tl.Sum && n != 7 {
						continue
					}
					t.Run(fmt.Sprintf("%s/%v/%d/%v", a.Name, levels, n, op), func(t *testing.T) {
						got, report, err := kerneltest.Races(a.Kernel, kerneltest.Config{
							Op: op, DType: dtype.F64, Topology: a.Topology, Levels: levels[:len(levels)-1], SlotBytes: 64,
							Inputs: filled(world, n, func(r, i int) float64 { return float64(r*r + i) }),
						})
						if err != nil {
							t.Fatal(err)
						}
						if report.Total > 0 {
							t.Fatalf("%d hazards: %v", report.Total, report)
						}
						for r := range got {
							for i, v := range got[r] {
								sum := float64((world-1)*world*(2*world-1)/6 + i*world)
								want := map[tl.ReduceOp]float64{tl.Sum: sum, tl.Avg: sum / float64(world),
									tl.Max: float64((world-1)*(world-1) + i)}[op]
								if v != want {
									t.Fatalf("rank %d has %v for element %d, want %v", r, v, i, want)
								}
							}
						}
					})
				}
			}
		}
	}
}
