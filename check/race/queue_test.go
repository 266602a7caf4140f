package race_test

import (
	"testing"

	"kernbench/tl"
)

// queue returns a producer that puts items into slots of the consumer, which counts what it has
// read. early is how many items too early the producer uses a slot again.
func queue(items, slots, early int) func(h *account) {
	return func(h *account) {
		for i := range items {
			if need := i - slots + 1 - early; need > 0 {
				h.wait(0, 0, tl.GE, int64(need))
			}
			h.fence(0)
			h.putSignal(0, at(1, int64(i%slots)*64, 64), at(0, 0, 64), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, int64(i+1))
			h.read(1, at(1, int64(i%slots)*64, 64))
			h.notify(1, wordOf(0, 0), 1)
		}
	}
}

func TestQueues(t *testing.T) {
	judgeAll(t, []protocol{
		{"producer and consumer, slots with counts both ways", 2, queue(20, 4, 0), nil},
		{"producer and consumer, one round too early", 2, queue(20, 4, 1), []string{"race load put_signal"}},
	})
}
