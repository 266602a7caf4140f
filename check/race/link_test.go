package race_test

import (
	"testing"

	"kernbench/mem"
	"kernbench/tl"
)

// A wait that may end by a later signal proves nothing of what comes before that signal. The reader
// knows that the put has begun, but not that it is complete.
func TestLaterSignalProvesNothing(t *testing.T) {
	for order, hazards := range map[mem.Ordering]int{mem.PutSignal: 1, mem.ByChannel: 1, mem.InOrder: 1, mem.Sequential: 0} {
		t.Run(order.String(), func(t *testing.T) {
			rep := judged(t, 4, order, func(h *account) {
				h.notify(0, wordOf(3, 1), 1)
				h.wait(3, 1, tl.GE, 1)
				h.putSignal(2, at(3, 0, 8), at(2, 64, 8), wordOf(3, 1), 1)
				h.notify(2, wordOf(1, 0), 1)
				h.wait(1, 0, tl.GE, 1)
				h.notify(1, wordOf(3, 2), 1)
				h.wait(3, 2, tl.GE, 1)
				h.read(3, at(3, 0, 8))
			})
			if rep.Total != hazards {
				t.Errorf("%d hazards, want %d:\n%v", rep.Total, hazards, rep)
			}
		})
	}
}
