package race_test

import (
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"
)

// A later signal may come after an earlier one of the same word. Its sender may not know that yet
// when the wait for both ends. Rank 2 waits for two of three signals, and reads what comes before
// the second one.
func TestForesee(t *testing.T) {
	data := at(2, 0, 8)
	for _, c := range []struct {
		name    string
		put     func(h *account)
		wait    string // what else may end the wait before the third signal
		hazards int
	}{
		{"a put with the second signal", func(h *account) { h.putSignal(1, data, at(1, 8, 8), wordOf(2, 0), 1) }, "", 0},
		{"a put before the second signal", func(h *account) {
			h.putNBI(1, data, at(1, 8, 8))
			h.fence(1)
			h.notify(1, wordOf(2, 0), 1)
		}, "", 0},
		{"a third signal that may come earlier", func(h *account) { h.putSignal(1, data, at(1, 8, 8), wordOf(2, 0), 1) }, "later", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			program := func(h *account) {
				h.notify(0, wordOf(2, 0), 1)
				c.put(h)
				h.wait(2, 0, tl.GE, 2)
				h.read(2, data)
				h.quiet(1)
				h.notify(1, wordOf(0, 0), 1)
				h.wait(0, 0, tl.GE, 1)
				h.notify(0, wordOf(2, 0), 1)
				if c.wait != "" {
					h.notify(3, wordOf(0, 0), 1)
				}
			}
			rep := judged(t, 4, mem.PutSignal, program)
			if rough, _ := judgedAs(t, 4, mem.PutSignal, program, (*race.Detector).Rough); !slices.Equal(reported(rough), reported(rep)) {
				t.Errorf("with rough facts %q, without %q", reported(rough), reported(rep))
			}
			if rep.Total != c.hazards {
				t.Errorf("%d hazards, want %d:\n%v", rep.Total, c.hazards, rep)
			}
		})
	}
}
