package race_test

import (
	"testing"

	"kernbench/tl"
)

func TestFlags(t *testing.T) {
	judgeAll(t, []protocol{
		{"set twice", 2, func(h *account) {
			h.set(0, wordOf(1, 0), 1)
			h.set(0, wordOf(1, 0), 2)
		}, []string{"lost_update notify notify"}},
		{"set twice, fence", 2, func(h *account) {
			h.set(0, wordOf(1, 0), 1)
			h.fence(0)
			h.set(0, wordOf(1, 0), 2)
		}, nil},
		{"two set the same", 3, func(h *account) {
			h.set(0, wordOf(2, 0), 1)
			h.set(1, wordOf(2, 0), 1)
			h.wait(2, 0, tl.EQ, 1)
		}, nil},
		{"two set the same: which one is unknown", 3, func(h *account) {
			for r := range 2 {
				h.put(r, at(2, int64(r)*64, 64), at(r, 0, 64))
				h.quiet(r)
				h.set(r, wordOf(2, 0), 1)
				if r == 0 {
					h.wait(2, 0, tl.EQ, 1)
					h.read(2, at(2, 0, 64))
				}
			}
		}, []string{"race put load"}},
		{"flag by set, wait ==", 2, func(h *account) {
			h.put(0, at(1, 0, 64), at(0, 0, 64))
			h.fence(0)
			h.set(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 1)
			h.read(1, at(1, 0, 64))
		}, nil},
		{"flag by set with an answer, many rounds", 2, func(h *account) {
			for i := range int64(10) {
				h.put(0, at(1, 0, 64), at(0, 0, 64))
				h.fence(0)
				h.set(0, wordOf(1, 0), i+1)
				h.wait(1, 0, tl.EQ, i+1)
				h.read(1, at(1, 0, 64))
				h.set(1, wordOf(0, 0), i+1)
				h.wait(0, 0, tl.EQ, i+1)
			}
		}, nil},
		{"flag by set without an answer: the next may hide it", 2, func(h *account) {
			h.set(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 1)
			h.fence(0)
			h.set(0, wordOf(1, 0), 2)
			h.wait(1, 0, tl.EQ, 2)
		}, []string{"missed_value wait_until notify"}},
		{"test may miss, and says so by its class", 2, func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			h.waitAs(1, "test", 0, tl.EQ, 1)
			h.notify(0, wordOf(1, 0), 1)
		}, nil},
		{"peek learns who wrote", 2, func(h *account) {
			h.put(0, at(1, 0, 64), at(0, 0, 64))
			h.quiet(0)
			h.set(0, wordOf(1, 0), 7)
			h.peek(1, 0)
			h.read(1, at(1, 0, 64))
		}, nil},
	})
}
