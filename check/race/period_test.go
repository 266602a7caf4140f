package race_test

import (
	"math"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"
)

// Operations are complete at the quiet after them, also when the agent has had more quiets than
// periods have numbers.
func TestPeriods(t *testing.T) {
	for _, c := range []struct {
		name   string
		quiets int
		last   bool // a quiet comes after the last operation
		total  int
	}{
		{"the first period", 0, true, 0},
		{"the first period, still in flight", 0, false, 1},
		{"the last number", math.MaxUint16, true, 0},
		{"more than there are numbers", math.MaxUint16 + 10, true, 0},
		{"more than there are numbers, still in flight", math.MaxUint16 + 10, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := race.New(race.Options{Order: mem.PutSignal})
			h := newAccount(t, d, 2)
			h.line = "kernel.go:1"
			put := func() { h.putNBI(0, at(1, 0, 8), at(0, 64, 8)) }
			for range c.quiets {
				put()
				h.quiet(0)
			}
			if put(); c.last {
				h.quiet(0)
			}
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, at(1, 0, 8))
			h.end()
			if r := d.Report(); r.Total != c.total {
				t.Errorf("%d hazards, want %d: %v", r.Total, c.total, r.Hazards)
			}
		})
	}
}
