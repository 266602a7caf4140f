package algorithm_test

import (
	"context"
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/kerneltest"
	labrun "kernbench/lab/run"
	"kernbench/tl"
)

// onSim runs an algorithm on the simulated machine. The test fails if the result is wrong.
func onSim(t *testing.T, a *algorithm.Algorithm, s labrun.Spec) *labrun.Result {
	t.Helper()
	if g := someGrid(t, a, s.Ranks); g.W > 0 {
		s.Sets = append(s.Sets, fmt.Sprintf("algorithms.%s.w=%d", a.Name, g.W))
	}
	if a.Multimem {
		s.Sets = append(s.Sets, kerneltest.SwitchSettings(s.Ranks)...)
	}
	s.Bench, s.Algorithm, s.Executor, s.VerifyData = bench.CCLHello.Name, a.Name, sim.Name, true
	r, err := labrun.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || r.RanksFailed != 0 || r.Verdict("provenance").State != labrun.Checked {
		t.Fatalf("%+v", r)
	}
	return r
}

// Random delays change no result.
func TestWindowsOnSimInAnySchedule(t *testing.T) {
	for _, a := range overWindows() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for _, world := range []int{2, 5} {
				if a.Check != nil && a.Check(world, 3*world) != nil {
					continue
				}
				r := onSim(t, a, labrun.Spec{Ranks: world, NElem: 3 * world, DType: dtype.I32, Op: tl.Sum, Schedules: 6})
				if r.Schedules == nil || r.Schedules.Done != 6 {
					t.Fatalf("%d ranks: %+v", world, r.Schedules)
				}
			}
		})
	}
}

// A vector longer than a PE's scratch memory passes through it tile by tile.
func TestWindowsBeyondScratch(t *testing.T) {
	for _, a := range overWindows() {
		if a.Collective == "barrier" {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			const n = 100_000 // 800 kB
			onSim(t, a, labrun.Spec{Ranks: 2, NElem: n, DType: dtype.F64, Sets: []string{"pe.tcm.scratch=512KiB"}})
		})
	}
}
