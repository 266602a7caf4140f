package race_test

import (
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"
)

// A wait for the signal of one of many puts to a rank proves this put and no other one.
func TestDeliveries(t *testing.T) {
	const ranks = 40
	// row lets rank 0 put a slot to each of ranks 1 to 9, twice, each with a signal.
	row := func(h *account) {
		for i := range 2 {
			for r := 1; r < 10; r++ {
				h.putSignal(0, at(r, 64*int64(i), 8), at(0, 512+64*int64(i), 8), wordOf(r, i), 1)
			}
		}
	}
	slot := func(i int) span { return at(9, 64*int64(i), 8) }
	twoOfOneWord := func(h *account) {
		for i := range int64(2) {
			h.putSignal(0, at(1, 64*i, 8), at(0, 512+64*i, 8), wordOf(1, 0), 1)
		}
		h.wait(1, 0, tl.GE, 2)
		h.read(1, at(1, 0, 8))
		h.read(1, at(1, 64, 8))
	}
	for _, c := range []struct {
		name      string
		hazardous bool
		passes    int
		program   func(h *account)
	}{
		{"the put of the signal", false, 1, func(h *account) {
			row(h)
			h.wait(9, 1, tl.GE, 1)
			h.read(9, slot(1))
		}},
		{"the one before", true, 2, func(h *account) {
			row(h)
			h.wait(9, 1, tl.GE, 1)
			h.read(9, slot(0))
		}},
		{"the one after", true, 2, func(h *account) {
			row(h)
			h.wait(9, 0, tl.GE, 1)
			h.read(9, slot(1))
		}},
		{"both", false, 1, func(h *account) {
			row(h)
			h.wait(9, 0, tl.GE, 1)
			h.wait(9, 1, tl.GE, 1)
			h.read(9, slot(1))
			h.read(9, slot(0))
		}},
		{"a rank that knows of the wait", false, 1, func(h *account) {
			row(h)
			h.wait(9, 1, tl.GE, 1)
			h.notify(9, wordOf(2, 5), 1)
			h.wait(2, 5, tl.GE, 1)
			h.putTensor(2, slot(1))
		}},
		{"a rank that knows of the row", true, 2, func(h *account) {
			row(h)
			h.notify(0, wordOf(2, 5), 1)
			h.wait(2, 5, tl.GE, 1)
			h.putTensor(2, slot(1))
		}},
		{"a rank that knows that all is complete", false, 1, func(h *account) {
			row(h)
			h.quiet(0)
			h.notify(0, wordOf(2, 5), 1)
			h.wait(2, 5, tl.GE, 1)
			h.putTensor(2, slot(1))
		}},
		{"a second update of the word", false, 2, func(h *account) {
			row(h)
			h.notify(3, wordOf(9, 1), 1)
			h.wait(9, 1, tl.GE, 2)
			h.read(9, slot(1))
		}},
		{"a value that it does not explain", true, 2, func(h *account) {
			row(h)
			h.poll(9, 1, tl.GE, 2)
			h.read(9, slot(1))
		}},
		{"an access before the wait", true, 2, func(h *account) {
			row(h)
			h.read(9, slot(1))
			h.wait(9, 1, tl.GE, 1)
			h.read(9, slot(1))
		}},
		{"two signals of one word, after a row of notifications", false, 1, func(h *account) {
			for r := 2; r < 10; r++ {
				h.notify(0, wordOf(r, 5), 1)
			}
			h.fence(0)
			twoOfOneWord(h)
		}},
		{"two signals of one word, after another signal", false, 1, func(h *account) {
			h.putSignal(0, at(3, 0, 8), at(0, 1024, 8), wordOf(3, 0), 1)
			h.fence(0)
			twoOfOneWord(h)
		}},
		{"the source, of which the row has read more since", false, 2, func(h *account) {
			row(h)
			h.wait(9, 1, tl.GE, 1)
			h.putTensor(9, at(0, 576, 8))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, passes := judgedAs(t, ranks, mem.PutSignal, c.program, func(*race.Detector) {})
			plain, _ := judgedAs(t, ranks, mem.PutSignal, c.program, (*race.Detector).Plain)
			if !slices.Equal(reported(report), reported(plain)) || c.hazardous != (report.Total > 0) || passes != c.passes {
				t.Errorf("with deliveries, in %d passes\n%q\nwithout\n%q", passes, reported(report), reported(plain))
			}
		})
	}
}

// Rows of puts leave nothing behind when they have been waited for.
func TestRowsLeaveNothing(t *testing.T) {
	judgedAs(t, 40, mem.PutSignal, func(h *account) {
		for i := range 100 {
			for r := 1; r < 20; r++ {
				h.putSignal(0, at(r, 64*int64(i%2), 8), at(0, 64*int64(r), 8), wordOf(r, i), 1)
			}
			for r := 1; r < 20; r++ {
				h.wait(r, i, tl.GE, 1)
				h.notify(r, wordOf(0, 20*i+r), 1)
				h.wait(0, 20*i+r, tl.GE, 1)
			}
			if n := h.d.Unsent(); n > 8 {
				t.Fatalf("%d joint events are not complete after %d rows", n, i+1)
			}
		}
	}, func(*race.Detector) {})
}
