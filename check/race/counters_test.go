package race_test

import (
	"testing"

	"kernbench/tl"
)

func twoMay(late bool) func(h *account) {
	return func(h *account) {
		h.put(0, at(2, 0, 64), at(0, 0, 64))
		h.fence(0)
		h.notify(0, wordOf(2, 0), 1)
		if !late {
			h.notify(1, wordOf(2, 0), 1)
		}
		h.wait(2, 0, tl.GE, 1)
		h.read(2, at(2, 0, 64))
		if late {
			h.notify(1, wordOf(2, 0), 1)
		}
	}
}

// sharedCounter is rounds in which each rank puts to all and adds 1 to the word of each.
func sharedCounter(rounds int, quiet bool) func(h *account) {
	return func(h *account) {
		p := h.ranks
		for i := 1; i <= rounds; i++ {
			lo := int64(i%3) * 4096
			for r := range p {
				for q := range p {
					h.putTensor(r, at(q, lo+int64(r)*64, 64))
				}
				if quiet {
					h.quiet(r)
				} else {
					h.fence(r)
				}
				for q := range p {
					h.notify(r, wordOf(q, 0), 1)
				}
			}
			for r := range p {
				h.wait(r, 0, tl.GE, int64(i*p))
				h.read(r, at(r, lo, int64(p)*64))
			}
		}
	}
}

func lastArriver(looks bool) func(h *account) {
	return func(h *account) {
		for r := range h.ranks {
			h.store(r, at(r, 0, 64))
			h.drain(r)
			old := h.fetchAdd(r, wordOf(0, 0), 1)
			if old == int64(h.ranks-1) && looks || r == 0 && !looks {
				for q := range h.ranks {
					h.read(r, at(q, 0, 64))
				}
			}
		}
	}
}

// reset is rounds in which rank 0 waits for all others, and takes their count away.
func reset(set, meet bool) func(h *account) {
	return func(h *account) {
		others := int64(h.ranks - 1)
		for range 3 {
			for r := 1; r < h.ranks; r++ {
				h.store(r, at(r, 0, 64))
				h.drain(r)
				h.notify(r, wordOf(0, 0), 1)
			}
			h.wait(0, 0, tl.GE, others)
			for r := 1; r < h.ranks; r++ {
				h.read(0, at(r, 0, 64))
			}
			if set {
				h.set(0, wordOf(0, 0), 0)
			} else {
				h.notify(0, wordOf(0, 0), -others)
			}
			if meet {
				h.barrier()
			} else {
				h.sync()
			}
		}
	}
}

func TestCounters(t *testing.T) {
	judgeAll(t, []protocol{
		{"two may notify, wait >= 1: the other came first", 3, twoMay(false), []string{"race put load"}},
		{"two may notify, wait >= 1: the other comes later", 3, twoMay(true), []string{"race put load"}},
		{"two may notify, wait >= 2", 3, func(h *account) {
			for r := range 2 {
				h.put(r, at(2, int64(r)*64, 64), at(r, 0, 64))
				h.fence(r)
				h.notify(r, wordOf(2, 0), 1)
			}
			h.wait(2, 0, tl.GE, 2)
			h.read(2, at(2, 0, 128))
		}, nil},
		{"three may notify, wait >= 2: any of them may be missing", 4, func(h *account) {
			for r := range 3 {
				h.put(r, at(3, int64(r)*64, 64), at(r, 0, 64))
				h.quiet(r)
				h.notify(r, wordOf(3, 0), 1)
				if r == 1 {
					h.wait(3, 0, tl.GE, 2)
					h.read(3, at(3, 0, 64))
				}
			}
		}, []string{"race put load"}},
		{"three notify, wait >= 2, then >= 3", 4, func(h *account) {
			for r := range 3 {
				h.put(r, at(3, int64(r)*64, 64), at(r, 0, 64))
				h.quiet(r)
				h.notify(r, wordOf(3, 0), 1)
			}
			h.wait(3, 0, tl.GE, 2)
			h.wait(3, 0, tl.GE, 3)
			h.read(3, at(3, 0, 192))
		}, nil},
		{"one who adds 2 and one who adds 1, wait >= 2", 3, func(h *account) {
			for r := range 2 {
				h.put(r, at(2, int64(r)*64, 64), at(r, 0, 64))
				h.quiet(r)
				h.notify(r, wordOf(2, 0), int64(2-r))
			}
			h.wait(2, 0, tl.GE, 2)
			h.read(2, at(2, 0, 64))
		}, nil},
		{"the other way round", 3, func(h *account) {
			for r := range 2 {
				h.put(r, at(2, int64(r)*64, 64), at(r, 0, 64))
				h.quiet(r)
				h.notify(r, wordOf(2, 0), int64(2-r))
			}
			h.wait(2, 0, tl.GE, 2)
			h.read(2, at(2, 64, 64))
		}, []string{"race put load"}},
		{"a shared counter in rounds, quiet before", 4, sharedCounter(5, true), nil},
		{"a shared counter in rounds, fence before: one of the next round may come instead", 4,
			sharedCounter(5, false), []string{"race put load"}},
		{"last arriver, by fetch_add", 4, lastArriver(true), nil},
		{"last arriver that does not look", 4, lastArriver(false), []string{"race load store"}},
		{"reset by set, then a barrier", 3, reset(true, true), nil},
		{"reset by set, no barrier", 3, reset(true, false), []string{"lost_update notify notify", "race store load"}},
		{"credits taken away, then a quiet", 3, reset(false, true), nil},
		{"count waited for by ==", 2, func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 1)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 2)
		}, []string{"missed_value wait_until notify"}},
		{"count waited for by >=", 2, func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 2)
		}, nil},
		{"count taken away while a rank waits for it", 2, func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.notify(0, wordOf(1, 0), -1)
		}, []string{"missed_value wait_until notify"}},
	})
}
