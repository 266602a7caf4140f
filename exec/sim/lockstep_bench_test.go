package sim_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
)

// BenchmarkLockstep is the data of a ring all-reduce of 64 KiB a rank, by message.
func BenchmarkLockstep(b *testing.B) {
	for _, world := range []int{256, 1024, 4096} {
		b.Run(fmt.Sprint(world), func(b *testing.B) {
			x := libraryBench(b, algorithm.RingAllReduceChunked,
				setup{world: world, n: 32768, sets: []string{fmt.Sprintf("system.sips.count=%d", world/128)}})
			log := x.fill(b, func(r, i int) float64 { return float64((r + i) % 3) })
			e := sim.New(x.m, sim.Options{Data: log})
			b.ReportAllocs()
			for b.Loop() {
				if err := e.Lockstep(b.Context(), x.launch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*world*(world-1)), "ns/message")
		})
	}
}
