package race_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// countOneByOne is an all-to-all in which each rank counts arrivals one by one. Its last wait is
// for last of them.
func countOneByOne(h *account, n, last int) {
	for i := 1; i < n; i++ {
		for r := range n {
			h.putSignal(r, at((r+i)%n, int64(64*r), 64), at(r, 1<<16, 64), wordOf((r+i)%n, 0), 1)
		}
		for r := range n {
			h.wait(r, 0, tl.GE, int64(min(i, last)))
		}
	}
	for r := range n {
		h.read(r, at(r, 0, int64(64*n)))
	}
}

// Few passes settle a program that counts signals one by one. With the most ranks here, there are
// so many facts that some are rough in the first pass. A program that waits for too few signals is
// reported.
func TestCountOneByOne(t *testing.T) {
	for _, n := range []int{4, 12, 24} {
		for _, last := range []int{n - 1, n - 2} {
			t.Run(fmt.Sprintf("%d of %d", last, n-1), func(t *testing.T) {
				rough := false
				rep, passes := judgedAs(t, n, mem.PutSignal, func(h *account) { countOneByOne(h, n, last) },
					func(d *race.Detector) { rough = rough || d.HasRough() })
				if right := last == n-1; right != (rep.Total == 0) || right && (rep.Unsettled || passes > 6 || !rough) {
					t.Errorf("after %d passes, rough facts %v:\n%v", passes, rough, rep)
				}
			})
		}
	}
}

// Rough facts change no report, and a report does not depend on which agents are of no interest to
// a wait.
func TestRoughFacts(tt *testing.T) {
	const ranks = 4
	differ := 0
	rapid.Check(tt, func(t *rapid.T) {
		type step struct{ do, rank, peer, cell, v int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3, 3, 3, 4, 5}).Draw(t, "do"), rapid.IntRange(0, ranks-1).Draw(t, "rank"),
				rapid.IntRange(1, ranks-1).Draw(t, "peer"), rapid.IntRange(0, 1).Draw(t, "cell") * 8, rapid.IntRange(0, 6).Draw(t, "v"),
			}
		}), 20, 60).Draw(t, "steps")
		order := rapid.SampledFrom([]mem.Ordering{mem.PutSignal, mem.ByChannel, mem.InOrder}).Draw(t, "order")
		program := func(d *race.Detector) bool {
			h := newAccount(tt, d, ranks)
			for i, s := range steps {
				h.line = fmt.Sprintf("kernel.go:%d", i)
				peer := (s.rank + s.peer) % ranks
				switch held := h.values[wordOf(s.rank, 0)]; s.do {
				case 0:
					h.read(s.rank, at(s.rank, int64(s.cell), 8))
				case 1:
					h.putSignal(s.rank, at(peer, int64(s.cell), 8), at(s.rank, 64, 8), wordOf(peer, 0), 1)
				case 2:
					h.notify(s.rank, wordOf(peer, 0), 1)
				case 3:
					if held > 0 {
						h.wait(s.rank, 0, tl.GE, max(1, held-int64(s.v)))
					}
				case 4:
					h.fence(s.rank)
				case 5:
					h.quiet(s.rank)
				}
			}
			h.end()
			return true
		}
		o := race.Options{Order: order, Most: 1000}
		usual, plain, _ := both(o, program)
		if !slices.Equal(usual, plain) {
			t.Fatalf("%v %v:\n%q\nwithout news:\n%q", order, steps, usual, plain)
		}
		rough, _, _ := bothWays(o, (*race.Detector).Rough, program)
		if !slices.Equal(usual, rough) {
			t.Fatalf("%v %v:\n%q\nwith rough facts:\n%q", order, steps, usual, rough)
		}
		differ += len(usual)
	})
	if differ == 0 {
		tt.Error("the programs say too little")
	}
}
