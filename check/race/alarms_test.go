package race_test

import (
	"testing"

	"kernbench/mem"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

// Histories that look like an explanation of the values seen, and are none. What each explanation
// implies, but in another manner.
func TestFalseAlarms(t *testing.T) {
	a := func(r int) span { return at(r, 0, 64) }
	for _, c := range []struct {
		name  string
		ranks int
		run   func(h *account)
		want  []string
	}{
		{"EQ 1: add of 2 by another, set of 1", 3, func(h *account) {
			h.put(0, a(2), a(0))
			h.quiet(0)
			h.notify(1, wordOf(2, 0), 2)
			h.set(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.EQ, 1)
			h.read(2, a(2))
		}, []string{"lost_update notify notify"}},
		{"EQ 1: add of 2 then set of 1 by one, no fence", 2, func(h *account) {
			h.put(0, a(1), a(0))
			h.quiet(0)
			h.notify(0, wordOf(1, 0), 2)
			h.set(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 1)
			h.read(1, a(1))
		}, []string{"lost_update notify notify"}},
		{"EQ 1: add of 2, fence, set of 1", 2, func(h *account) {
			h.put(0, a(1), a(0))
			h.quiet(0)
			h.notify(0, wordOf(1, 0), 2)
			h.fence(0)
			h.set(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 1)
			h.read(1, a(1))
		}, nil},
		{"set of 1 known, EQ 1, later add of 2", 2, func(h *account) {
			h.put(0, a(1), a(0))
			h.quiet(0)
			h.set(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 1)
			h.read(1, a(1))
			h.notify(1, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			h.notify(0, wordOf(1, 0), 2)
		}, nil},
		{"store over by fence and by pipe barrier", 3, func(h *account) {
			h.store(0, a(1))
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.drain(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, a(1))
		}, nil},
		{"store over by fence or by pipe barrier through another", 3, func(h *account) {
			h.store(0, a(1))
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.drain(0)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, a(1))
		}, nil},
		{"put over by fence or by quiet through another", 3, func(h *account) {
			h.putTensor(0, a(1))
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.quiet(0)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, a(1))
		}, nil},
		{"put over by fence, or not yet", 3, func(h *account) {
			h.putTensor(0, a(1))
			h.notify(0, wordOf(2, 0), 1)
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, a(1))
		}, []string{"race put load"}},
		{"store over by fence or by pipe barrier through another, announced by sets", 3, func(h *account) {
			h.store(0, a(1))
			h.fence(0)
			h.set(0, wordOf(1, 0), 1)
			h.drain(0)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.set(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 1)
			h.read(1, a(1))
		}, nil},
		{"EQ 4: an add of 3 and two of 2", 4, func(h *account) {
			h.put(0, a(3), a(0))
			h.quiet(0)
			h.notify(0, wordOf(3, 0), 2)
			h.notify(1, wordOf(3, 0), 2)
			h.wait(3, 0, tl.EQ, 4)
			h.read(3, a(3))
			h.barrier()
			h.notify(2, wordOf(3, 0), 3)
		}, nil},
		{"GE 2 reached by either", 3, func(h *account) {
			h.store(0, a(1))
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.drain(0)
			h.notify(0, wordOf(1, 0), 2)
			h.wait(1, 0, tl.GE, 2)
			h.read(1, a(1))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, c.ranks, mem.PutSignal, c.run)
			if diff := cmp.Diff(c.want, kinds(rep)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, rep)
			}
		})
	}
}
