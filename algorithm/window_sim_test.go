package algorithm_test

import (
	"context"
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/dtype"
	"kernbench/lab"
	"kernbench/mem"
	"kernbench/tl"
)

// onSim runs an algorithm on the simulated machine and wants its result right.
func onSim(t *testing.T, a *algorithm.Algorithm, s lab.Spec) *lab.Result {
	t.Helper()
	if g := someGrid(t, a, s.Ranks); g.W > 0 {
		s.Sets = append(s.Sets, fmt.Sprintf("algorithms.%s.w=%d", a.Name, g.W))
	}
	s.Bench, s.Algorithm, s.Executor, s.VerifyData = bench.CCLHello.Name, a.Name, lab.Sim, true
	r, err := lab.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || r.RanksFailed != 0 || r.Verdict("provenance").State != lab.Checked {
		t.Fatalf("%+v", r)
	}
	return r
}

// The simulated machine gives each result that the executor without a clock does, in every
// memory order that a machine may promise, on ranks that fill a cube and on more.
func TestLibraryOnSim(t *testing.T) {
	for _, a := range algorithm.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			k := 0
			for i, world := range []int{1, 2, 3, 4, 8, 17} {
				for j, n := range counts(t, a, world, dtype.F16)[1:] { // a tensor has one element at least
					if k++; !*exhaustive && i != j || a.Check != nil && a.Check(world, n) != nil {
						continue
					}
					order := mem.Ordering(k % (int(mem.Sequential) + 1))
					typ, op := dtype.Types()[k%len(dtype.Types())], ops(t, a)[k%len(ops(t, a))]
					t.Run(fmt.Sprintf("%d/%d/%v/%v/%v", world, n, order, typ, op), func(t *testing.T) {
						onSim(t, a, lab.Spec{
							Ranks: world, NElem: n, DType: typ, Op: op,
							Sets: []string{"fabric.memory_order=" + order.String()},
						})
					})
				}
			}
		})
	}
}

// Delays that nobody can foresee change no result.
func TestWindowsOnSimInAnySchedule(t *testing.T) {
	for _, a := range overWindows() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for _, world := range []int{2, 5} {
				if a.Check != nil && a.Check(world, 3*world) != nil {
					continue
				}
				r := onSim(t, a, lab.Spec{Ranks: world, NElem: 3 * world, DType: dtype.I32, Op: tl.Sum, Schedules: 6})
				if r.Schedules == nil || r.Schedules.Done != 6 {
					t.Fatalf("%d ranks: %+v", world, r.Schedules)
				}
			}
		})
	}
}

// A vector longer than a PE's scratch memory goes through it tile by tile.
func TestWindowsBeyondScratch(t *testing.T) {
	for _, a := range overWindows() {
		if a.Collective == "barrier" {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			const n = 100_000 // 800 kB
			onSim(t, a, lab.Spec{Ranks: 2, NElem: n, DType: dtype.F64, Sets: []string{"pe.tcm.scratch=512KiB"}})
		})
	}
}
