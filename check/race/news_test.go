package race_test

import (
	"testing"

	"kernbench/mem"
	"kernbench/tl"
)

// A wait proves an update that all others come after, though they know no more of its agent than
// the agent that waits does. Ranks 3 and 4 have seen the signal of a put. Each of the others
// follows one of them.
func TestNoNewsOfAProvenUpdate(t *testing.T) {
	const ranks, followers = 17, 12
	for _, c := range []struct {
		name    string
		loose   bool // one that follows none
		hazards int
	}{{"all follow", false, 0}, {"all but one follow", true, 1}} {
		rep := judged(t, ranks, mem.PutSignal, func(h *account) {
			h.putSignal(1, at(2, 0, 8), at(1, 64, 8), wordOf(2, 0), 1)
			h.notify(1, wordOf(2, 1), 1)
			h.fetchAdd(3, wordOf(2, 0), 0)
			h.fetchAdd(4, wordOf(2, 0), 0)
			if c.loose {
				h.notify(0, wordOf(2, 0), 1)
			}
			for r := ranks - followers; r < ranks; r++ {
				h.notify(3+r%2, wordOf(r, 0), 1)
				h.wait(r, 0, tl.GE, 1)
				h.notify(r, wordOf(2, 0), 1)
			}
			h.wait(2, 1, tl.GE, 1)
			h.wait(2, 0, tl.GE, 1)
			h.read(2, at(2, 0, 8))
		})
		if rep.Total != c.hazards {
			t.Errorf("%s: %d hazards, want %d\n%v", c.name, rep.Total, c.hazards, rep)
		}
	}
}
