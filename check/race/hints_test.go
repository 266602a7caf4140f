package race_test

import (
	"slices"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"
)

// What would order two accesses fits what is there already.
func TestHints(t *testing.T) {
	a := func(r int) span { return at(r, 0, 64) }
	for _, c := range []struct {
		name      string
		run       func(h *account)
		want, not string
	}{
		{"a fence, but to another destination", func(h *account) {
			h.put(0, a(1), a(0))
			h.fence(0)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, a(1))
		}, "a quiet of rank 0 between put", "fence"},
		{"no fence", func(h *account) {
			h.put(0, a(1), a(0))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, a(1))
		}, "a fence (or quiet) of rank 0 between put", "  "},
		{"a fence, and a message", func(h *account) {
			h.put(0, a(1), a(0))
			h.fence(0)
			h.send(0, 3)
			h.recv(1, 3)
			h.read(1, a(1))
		}, "a quiet of rank 0 between put", "fence"},
		{"a buffer that is used again, announced by sets", func(h *account) {
			for i := range int64(3) {
				h.put(0, a(1), a(0))
				h.quiet(0)
				h.set(0, wordOf(1, 0), i+1)
				h.wait(1, 0, tl.GE, i+1)
				h.read(1, a(1))
			}
		}, "must not write before", "without  of"},
		{"two that answer each other too early", func(h *account) {
			for i := range int64(3) {
				for r := range 2 {
					h.put(r, a(1-r), at(r, 4096, 64))
					h.quiet(r)
					h.set(r, wordOf(1-r, 0), i+1)
				}
				for r := range 2 {
					h.wait(r, 0, tl.GE, i+1)
					h.read(r, a(r))
				}
			}
		}, "must not write before", "without  of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, 3, mem.PutSignal, c.run)
			found := false
			for i := range rep.Hazards {
				m := rep.Hazards[i].Missing
				found = found || strings.Contains(m, c.want)
				if strings.Contains(m, c.not) {
					t.Errorf("does not fit: %s", m)
				}
			}
			if !found {
				t.Errorf("no %q:\n%v", c.want, rep)
			}
		})
	}
}

// The hints of many agents are those of a few.
func TestHintsOfManyAgents(t *testing.T) {
	program := func(h *account) {
		h.putTensor(0, at(1, 0, 8))
		h.notify(0, wordOf(2, 0), 1)
		h.wait(2, 0, tl.GE, 1)
		h.putTensor(2, at(1, 0, 8))
		h.notify(3, wordOf(1, 0), 1)
		h.notify(4, wordOf(1, 0), 1)
		h.putTensor(3, at(1, 64, 8))
		h.wait(1, 0, tl.GE, 1)
		h.putTensor(1, at(1, 64, 8))
	}
	report, passes := judgedAs(t, 40, mem.PutSignal, program, func(*race.Detector) {})
	plain, _ := judgedAs(t, 40, mem.PutSignal, program, (*race.Detector).Plain)
	if !slices.Equal(reported(report), reported(plain)) || report.Total != 2 || passes != 2 {
		t.Errorf("in %d passes\n%q\nplain\n%q", passes, reported(report), reported(plain))
	}
}
