package mock_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/kerneltest"
)

// BenchmarkRun is a whole mock run with data and provenance: what a unit test costs.
func BenchmarkRun(b *testing.B) {
	for _, a := range []*algorithm.Algorithm{algorithm.RingAllReduce, algorithm.RingAllReduceChunked} {
		for _, world := range []int{8, 64} {
			b.Run(fmt.Sprintf("%s/%d", a.Name, world), func(b *testing.B) {
				cfg := kerneltest.Config{Inputs: vectors(world, 64)}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := kerneltest.Try(a.Kernel, cfg); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
