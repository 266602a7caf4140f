package race_test

import (
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"
)

// awaitPut lets rank 1 wait for a put with a signal into its cell and word of the sender's number.
func awaitPut(h *account, from int) span {
	cell := at(1, 8*int64(from), 8)
	h.putSignal(from, cell, at(from, 0, 8), wordOf(1, from), 1)
	h.wait(1, from, tl.GE, 1)
	return cell
}

// Waits for puts end no moment of their agent, so the accesses after several waits share an event.
// What others know of such an access is known at once, in one pass.
func TestMomentsAcrossWaits(t *testing.T) {
	const ranks, first, last = 40, 2, 14
	all := at(1, 8*first, 8*(last+1-first))
	for _, c := range []struct {
		name      string
		joints    int // in the first pass: one for the sources of each rank, and those of rank 1
		passes    int
		hazardous bool
		program   func(h *account)
	}{
		{"loads", 14, 1, false, func(h *account) {
			for from := first; from <= last; from++ {
				h.read(1, awaitPut(h, from))
			}
		}},
		{"a writer that knows of all loads", 14, 1, false, func(h *account) {
			for from := first; from <= last; from++ {
				h.read(1, awaitPut(h, from))
			}
			h.notify(1, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.put(2, all, at(2, 0, all.n))
		}},
		{"a writer that knows of all but the last load", 14, 2, true, func(h *account) {
			for from := first; from <= last; from++ {
				cell := awaitPut(h, from)
				if from == last {
					h.notify(1, wordOf(2, 0), 1)
				}
				h.read(1, cell)
			}
			h.wait(2, 0, tl.GE, 1)
			h.put(2, all, at(2, 0, all.n))
		}},
		{"stores before and after a barrier", 4, 1, false, func(h *account) {
			for i := range int64(8) {
				h.store(1, at(1, 8*i, 8))
			}
			h.drain(1)
			awaitPut(h, last)
			h.store(1, at(1, 800, 8))
			h.notify(1, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.get(2, at(2, 0, 64), at(1, 0, 64))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d *race.Detector
			report, passes := judgedAs(t, ranks, mem.PutSignal, func(h *account) {
				c.program(h)
				if d == nil {
					d = h.d
				}
			}, func(*race.Detector) {})
			plain, _ := judgedAs(t, ranks, mem.PutSignal, c.program, (*race.Detector).Plain)
			if !slices.Equal(reported(report), reported(plain)) || c.hazardous != (report.Total > 0) {
				t.Errorf("with shared moments\n%q\nwithout\n%q", reported(report), reported(plain))
			}
			if d.Joints() != c.joints || passes != c.passes {
				t.Errorf("%d joint events in the first of %d passes, want %d of %d", d.Joints(), passes, c.joints, c.passes)
			}
		})
	}
}

// A pass that hides no hazards has the times of words in full.
func TestMomentsOfFewRanks(t *testing.T) {
	times := func(change func(*race.Detector)) []uint32 {
		d := race.New(race.Options{Order: mem.PutSignal})
		change(d)
		h := newAccount(t, d, 8)
		for from := 2; from < 8; from++ {
			h.read(1, awaitPut(h, from))
			h.notify(1, wordOf(from, 0), 1)
		}
		return d.Times()
	}
	if short, full := times(func(*race.Detector) {}), times((*race.Detector).Plain); !slices.Equal(short, full) {
		t.Errorf("short words %v, words in full %v", short, full)
	}
}
