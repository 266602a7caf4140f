package sim_test

import (
	"runtime"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/tl"
)

// allocations of one launch on an executor that has run before.
func allocations(t *testing.T, e *sim.Executor, l *tl.Launch) float64 {
	t.Helper()
	launch := func() {
		if _, err := e.Launch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		launch()
	}
	runtime.GC()
	return testing.AllocsPerRun(5, launch)
}

// TestMessagesAllocateNothing: a launch with four times the messages allocates no more than
// one with few: what is allocated belongs to the launch.
func TestMessagesAllocateNothing(t *testing.T) {
	rounds := func(k int) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			for range k {
				algorithm.RingAllReduceChunked.Kernel(c, a)
			}
		}
	}
	for _, space := range []mem.Space{mem.TCM, mem.HBM} {
		for _, n := range []int{800, 100_000} { // a slot, and several
			s := setup{world: 8, n: n, space: space}
			few, many := newBench(t, rounds(5), s), newBench(t, rounds(20), s)
			e := sim.New(few.m, few.topo, sim.Options{})
			a, b := allocations(t, e, few.launch), allocations(t, e, many.launch)
			const messages = 15 * 2 * 7 * 8
			if b-a > 8 { // tables that still grow
				t.Errorf("%v, %d elements: %v allocations, with %d messages more %v", space, n, a, messages, b)
			}
		}
	}
}
