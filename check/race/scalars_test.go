package race_test

import (
	"testing"

	"kernbench/tl"
)

// counts returns a history of three rounds. In a round every other rank adds to word 0 of rank 0,
// then adds 1 to the flag in word 1. order adds events between the two.
func counts(order func(h *account, r int)) func(h *account) {
	return func(h *account) {
		others := int64(h.ranks - 1)
		for round := range int64(3) {
			for r := 1; r < h.ranks; r++ {
				h.notify(r, wordOf(0, 0), int64(r))
				order(h, r)
				h.notify(r, wordOf(0, 1), 1)
			}
			h.wait(0, 1, tl.GE, others*(round+1))
			h.loadScalar(0, 0)
			h.barrier()
		}
	}
}

func TestLoadedScalars(t *testing.T) {
	judgeAll(t, []protocol{
		{"load_scalar after an unordered set", 2, func(h *account) {
			h.set(0, wordOf(1, 0), 7)
			h.loadScalar(1, 0)
		}, []string{"race notify load_scalar"}},
		{"load_scalar before an unordered set", 2, func(h *account) {
			h.loadScalar(1, 0)
			h.set(0, wordOf(1, 0), 7)
		}, []string{"race load_scalar notify"}},
		{"load_scalar before an ordered set", 2, func(h *account) {
			h.loadScalar(1, 0)
			h.notify(1, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			h.set(0, wordOf(1, 0), 7)
		}, nil},
		{"repeated load_scalar is a wait", 2, func(h *account) {
			for i := range 3 {
				h.loadScalar(1, 0)
				if i == 1 {
					h.set(0, wordOf(1, 0), 7)
				}
			}
		}, nil},
		{"counts, fence, flag, load_scalar", 3, counts(func(h *account, r int) { h.fence(r) }), nil},
		{"counts, quiet, flag, load_scalar", 3, counts(func(h *account, r int) { h.quiet(r) }), nil},
		{"counts, flag, load_scalar", 3, counts(func(*account, int) {}), []string{"race notify load_scalar"}},
	})
}
