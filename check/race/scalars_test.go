package race_test

import (
	"testing"

	"kernbench/tl"
)

// counts is rounds in which all others count items of rank 0, and say when they have done so.
func counts(between func(h *account, r int)) func(h *account) {
	return func(h *account) {
		others := int64(h.ranks - 1)
		for round := range int64(3) {
			for r := 1; r < h.ranks; r++ {
				h.notify(r, wordOf(0, 0), int64(r))
				between(h, r)
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
		{"load_scalar of a word that changes", 2, func(h *account) {
			h.set(0, wordOf(1, 0), 7)
			h.loadScalar(1, 0)
		}, []string{"race notify load_scalar"}},
		{"load_scalar of a word that changes later", 2, func(h *account) {
			h.loadScalar(1, 0)
			h.set(0, wordOf(1, 0), 7)
		}, []string{"race load_scalar notify"}},
		{"load_scalar of a word that is changed when it has been read", 2, func(h *account) {
			h.loadScalar(1, 0)
			h.notify(1, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			h.set(0, wordOf(1, 0), 7)
		}, nil},
		{"load_scalar over and over", 2, func(h *account) {
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
