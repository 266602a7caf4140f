package run_test

import (
	"fmt"
	"testing"

	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/lab/run"
)

// BenchmarkRace measures the cost of the search for hazards, on 64 ranks with data: divide the time
// with the search by the time without it.
func BenchmarkRace(b *testing.B) {
	for _, executor := range []string{mock.Name, sim.Name} {
		for _, name := range []string{"ring_allreduce_chunked", "window_allreduce_ring", "window_allreduce_onephase"} {
			for _, race := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%s/race=%v", executor, name, race), func(b *testing.B) {
					for b.Loop() {
						s := run.Spec{Algorithm: name, Ranks: 64, NElem: 4096, Executor: executor, Race: &race, VerifyData: true}
						if r, err := run.Run(b.Context(), s); err != nil || !r.OK() {
							b.Fatal(err, r)
						}
					}
				})
			}
		}
	}
}
