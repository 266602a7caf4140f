package algorithm_test

import (
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// TestPacketsTwice: a second call on a window has no hazard in any schedule if calls are counted.
// If it reuses the flags of the first call, the report names the flag.
func TestPacketsTwice(t *testing.T) {
	for _, a := range []*algorithm.Algorithm{algorithm.WindowAllReduceOnePhaseLL, algorithm.WindowAllReduceTwoPhaseLL} {
		for _, counted := range []bool{true, false} {
			for _, executor := range []string{"mock", "sim"} {
				for seed := range uint64(5) {
					layout, err := a.Window(3, 40_000, dtype.F32) // of several packets
					if err != nil {
						t.Fatal(err)
					}
					cfg := kerneltest.Config{Collective: "all_reduce", World: 3, NElem: 40_000, DType: dtype.F32, Layout: layout,
						Topology: "none", Seed: seed, Executors: []string{executor}, Apart: true}
					_, report, err := kerneltest.Races(func(c *tl.Context, a2 tl.Args) {
						if counted {
							a2.Uses = make([]int, 1)
						}
						a.Kernel(c, a2)
						c.Barrier(a2.Window(0).Team) // elsewhere consecutive calls use two windows
						a.Kernel(c, a2)
					}, cfg)
					if err != nil {
						t.Fatal(err)
					}
					named := false
					for i := range report.Hazards {
						named = named || strings.HasPrefix(report.Hazards[i].String(), "reused flag of window.scratch.signals")
					}
					if named == counted || counted && report.Total > 0 {
						t.Errorf("%s on %s, seed %d, counted %v: %v", a.Name, executor, seed, counted, report)
					}
				}
			}
		}
	}
}
