package tl

import (
	"strconv"
	"testing"

	"kernbench/tl/frames"
)

// Of a ring only the latest receives are remembered, and on a context that was another rank's none
// of that.
func TestRecentReceives(t *testing.T) {
	l := newLines()
	for range 2 {
		for seq := range uint32(10 * recent) {
			l.now = frames.NewCall(strconv.Itoa(int(seq)))
			l.take(2, seq)
			l.end(2, seq, ending{"recv", l.now})
			for back, want := range map[uint32]bool{0: true, recent - 1: true, recent: false} {
				if back > seq {
					continue
				}
				got := l.taken.at(2, seq-back)
				if want && got != strconv.Itoa(int(seq-back)) || !want && got != "" {
					t.Fatalf("receive %d after %d: %q", seq-back, seq, got)
				}
			}
		}
		if len(l.ended) != recent || len(l.taken[2].calls) != recent {
			t.Errorf("%d endings and %d receives remembered, want %d", len(l.ended), len(l.taken[2].calls), recent)
		}
		l.forget()
		if len(l.ended) != 0 || l.now != nil || l.taken.at(2, 0) != "" {
			t.Error("something is remembered")
		}
	}
}
