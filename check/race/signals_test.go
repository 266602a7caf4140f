package race_test

import (
	"slices"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
)

// A put is known to be complete by its own signal only, if the signals of many ranks are freed.
func TestFreedSignals(t *testing.T) {
	const ranks = 40
	cell := func(rank, i int) span { return at(rank, int64(i)*8, 8) }
	for _, c := range []struct {
		name    string
		hazard  string // "": none
		program func(h *account)
	}{
		{"the rank that waits", "", func(h *account) {
			h.putSignal(0, cell(1, 0), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a rank that is notified by it", "", func(h *account) {
			h.putSignal(0, cell(1, 0), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.notify(1, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.read(2, cell(1, 0))
		}},
		{"another rank", "kernel", func(h *account) {
			h.putSignal(0, cell(1, 0), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(2, cell(1, 0))
		}},
		{"a notification after a put", "put", func(h *account) {
			h.put(0, cell(1, 0), cell(0, 1))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a notification after a put with a signal", "put", func(h *account) {
			h.putSignal(0, cell(1, 0), cell(0, 1), wordOf(1, 0), 1)
			h.notify(0, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"what an access before the put waited for", "", func(h *account) {
			h.putSignal(0, cell(1, 0), cell(0, 1), wordOf(1, 0), 1)
			h.quiet(0)
			h.store(0, cell(1, 0))
			h.putSignal(0, cell(1, 1), cell(1, 0), wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a source whose read the sender learns of later", "", func(h *account) {
			op := h.putSignalNBI(0, cell(1, 0), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.notify(0, wordOf(2, 0), 1)
			h.add(0, "wait", history.Record{Kind: history.Complete, Op: op, Done: history.Source})
			h.wait(2, 0, tl.GE, 1)
			h.store(2, cell(0, 1))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, order := range []mem.Ordering{mem.PutSignal, mem.ByChannel} {
				usual, plain, _ := both(race.Options{Order: order}, func(d *race.Detector) bool {
					h := newAccount(t, d, ranks)
					c.program(h)
					h.end()
					return true
				})
				if !slices.Equal(usual, plain) {
					t.Errorf("%v: with freed signals\n%q\nwithout\n%q", order, usual, plain)
				}
				if found := strings.HasPrefix(usual[1], "1 "); order == mem.PutSignal && found != (c.hazard != "") {
					t.Errorf("%v: %q", order, usual)
				}
			}
		})
	}
}
