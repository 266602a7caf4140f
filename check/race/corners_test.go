package race_test

import (
	"slices"
	"testing"

	"kernbench/mem"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

// Order that follows from other accesses: cases that small random programs found.
func TestCorners(t *testing.T) {
	a, b := func(r int) span { return at(r, 0, 64) }, func(r int) span { return at(r, 64, 64) }
	for _, c := range []struct {
		name  string
		ranks int
		order mem.Ordering
		run   func(h *account)
		want  []string
	}{
		{"by channel: what a notification follows, the next one follows too", 2, mem.ByChannel, func(h *account) {
			h.putTensor(0, a(1))
			h.putSignal(0, b(1), b(0), wordOf(1, 0), 1)
			h.notify(0, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			h.read(1, a(1))
		}, nil},
		{"a notification after a blocking put_signal knows that its source was read", 2, mem.PutSignal, func(h *account) {
			h.putSignal(0, a(1), a(0), wordOf(1, 0), 1)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, a(0))
		}, nil},
		{"in order: a store that is over had a put before it", 2, mem.InOrder, func(h *account) {
			h.putTensor(0, a(1))
			h.store(0, b(1))
			h.drain(0)
			h.read(0, a(1))
		}, nil},
		{"in order: a store that was read back had a put before it", 2, mem.InOrder, func(h *account) {
			h.putTensor(0, a(1))
			h.store(0, b(1))
			h.read(0, b(1))
			h.read(0, a(1))
		}, nil},
		{"a store that was read back is over", 2, mem.PutSignal, func(h *account) {
			h.store(0, a(0))
			h.read(0, a(0))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, a(0))
		}, nil},
		{"a store whose bytes have arrived by put is over", 3, mem.PutSignal, func(h *account) {
			h.store(0, a(0))
			h.putNBI(0, a(2), a(0))
			h.putSignal(0, a(1), a(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, a(0))
		}, nil},
		{"a store beside it is not", 2, mem.PutSignal, func(h *account) {
			h.store(0, b(0))
			h.putSignal(0, a(1), a(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, b(0))
		}, []string{"race store load"}},
		{"a signal after a quiet comes after the signal before", 2, mem.PutSignal, func(h *account) {
			h.putSignal(0, a(1), a(0), wordOf(1, 0), 1)
			h.quiet(0)
			h.putSignal(0, b(1), a(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, a(1))
		}, nil},
		{"an answer to an atomic comes after what was fenced before it", 3, mem.PutSignal, func(h *account) {
			h.putTensor(0, a(1))
			h.fence(0)
			h.fetchAdd(0, wordOf(1, 0), 1)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.read(2, a(1))
		}, nil},
		{"without the fence it does not", 3, mem.PutSignal, func(h *account) {
			h.putTensor(0, a(1))
			h.fetchAdd(0, wordOf(1, 0), 1)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.read(2, a(1))
		}, []string{"race put load"}},
		{"compare_swap and an add hide nothing of each other", 3, mem.PutSignal, func(h *account) {
			h.cas(0, wordOf(1, 0), 0, 5)
			h.notify(2, wordOf(1, 0), 1)
		}, nil},
		{"a set and a compare_swap do", 3, mem.PutSignal, func(h *account) {
			h.cas(0, wordOf(1, 0), 0, 5)
			h.set(2, wordOf(1, 0), 1)
		}, []string{"lost_update compare_swap notify"}},
		{"a late reader learns what the others have long known", 3, mem.PutSignal, func(h *account) {
			for i := range int64(10) {
				h.put(0, at(1, i*64, 64), a(0))
				h.fence(0)
				h.notify(0, wordOf(1, 0), 1)
				h.wait(1, 0, tl.GE, i+1)
			}
			h.fetchAdd(2, wordOf(1, 0), 1)
			h.read(2, at(1, 0, 640))
		}, nil},
		{"a late reader learns it from each of many", 7, mem.PutSignal, func(h *account) {
			for i := range int64(10) {
				r := []int{0, 3, 4, 5, 6}[i%5]
				h.put(r, at(1, i*64, 64), a(r))
				h.quiet(r)
				h.notify(r, wordOf(1, 0), 1)
			}
			h.wait(1, 0, tl.GE, 10)
			h.fetchAdd(2, wordOf(1, 0), 1)
			h.read(2, at(1, 0, 640))
		}, nil},
		{"an add that was set away explains nothing", 2, mem.PutSignal, reset(true, true), nil},
		{"an add that came too late for a wait, and another after it", 2, mem.PutSignal, func(h *account) {
			h.wait(0, 0, tl.NE, 2)
			h.notify(0, wordOf(0, 0), 1)
			h.notify(1, wordOf(0, 0), 1)
			h.notify(1, wordOf(0, 0), 1)
		}, []string{"missed_value wait_until notify"}},
		{"who adds 2 after 1 cannot be who was seen", 3, mem.PutSignal, func(h *account) {
			h.put(1, a(2), a(1))
			h.quiet(1)
			h.notify(1, wordOf(2, 0), 2)
			h.wait(2, 0, tl.EQ, 2)
			h.read(2, a(2))
			h.notify(0, wordOf(2, 0), 1)
			h.fence(0)
			h.notify(0, wordOf(2, 0), 2)
		}, []string{"missed_value wait_until notify"}},
		{"two who add 1 may come instead of one who adds 2", 4, mem.PutSignal, func(h *account) {
			h.put(1, a(2), a(1))
			h.quiet(1)
			h.notify(1, wordOf(2, 0), 2)
			h.wait(2, 0, tl.GE, 2)
			h.read(2, a(2))
			h.notify(0, wordOf(2, 0), 1)
			h.notify(3, wordOf(2, 0), 1)
		}, []string{"race put load"}},
		{"one who adds 1 may not", 3, mem.PutSignal, func(h *account) {
			h.put(1, a(2), a(1))
			h.quiet(1)
			h.notify(1, wordOf(2, 0), 2)
			h.wait(2, 0, tl.GE, 2)
			h.read(2, a(2))
			h.notify(0, wordOf(2, 0), 1)
		}, nil},
		{"set again by who has seen it: another reader knows the first all the same", 3, mem.PutSignal, func(h *account) {
			h.putSignal(2, a(0), a(2), wordOf(0, 0), 1)
			h.wait(0, 0, tl.EQ, 1)
			h.set(0, wordOf(0, 0), 1)
			h.waitAt(1, "wait_until", wordOf(0, 0), tl.EQ, 1)
			h.read(1, a(0))
		}, nil},
		{"the same, where the set comes later", 3, mem.ByChannel, func(h *account) {
			h.putSignal(2, a(0), a(2), wordOf(0, 0), 1)
			h.wait(0, 0, tl.EQ, 1)
			h.waitAt(1, "wait_until", wordOf(0, 0), tl.EQ, 1)
			h.set(0, wordOf(0, 0), 1)
			h.read(1, a(0))
		}, nil},
		{"a late notifier is no explanation of what it has waited for", 3, mem.PutSignal, func(h *account) {
			h.put(0, a(2), a(0))
			h.fence(0)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.read(2, a(2))
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.putTensor(0, b(2))
			h.fence(0)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 2)
			h.get(2, at(2, 1024, 64), b(2))
			h.notify(1, wordOf(2, 0), 1)
		}, []string{"race put get"}},
		{"who sees 2 has seen the one that adds 2", 3, mem.PutSignal, func(h *account) {
			for r := range 2 {
				h.put(r, at(2, int64(r)*64, 64), a(r))
				h.quiet(r)
				h.notify(r, wordOf(2, 0), int64(r+1))
				if r == 1 {
					continue
				}
				h.wait(2, 0, tl.EQ, 1)
				h.read(2, a(2))
			}
		}, []string{"missed_value wait_until notify"}},
		{"bits of a mask, all of them", 4, mem.PutSignal, func(h *account) {
			for r := range 3 {
				h.put(r, at(3, int64(r)*64, 64), a(r))
				h.quiet(r)
				h.notify(r, wordOf(3, 0), 1<<r)
			}
			h.wait(3, 0, tl.EQ, 7)
			h.read(3, at(3, 0, 192))
		}, nil},
		{"what was known early stays known after many rounds", 3, mem.PutSignal, func(h *account) {
			h.putTensor(0, a(1))
			h.store(0, b(1))
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.notify(1, wordOf(2, 0), 1)
			for i := range int64(200) {
				h.putTensor(0, at(1, 1024, 64))
				h.fence(0)
				h.notify(0, wordOf(1, 0), 1)
				h.wait(1, 0, tl.GE, i+2)
			}
			h.wait(2, 0, tl.GE, 1)
			h.read(2, a(1))
			h.read(2, b(1))
		}, nil},
		{"what was known late is not known early", 3, mem.PutSignal, func(h *account) {
			h.putTensor(0, a(1))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.notify(1, wordOf(2, 0), 1)
			for i := range int64(200) {
				h.fence(0)
				h.notify(0, wordOf(1, 0), 1)
				h.wait(1, 0, tl.GE, i+2)
			}
			h.read(1, a(1))
			h.wait(2, 0, tl.GE, 1)
			h.read(2, at(1, 0, 64))
			h.store(2, a(1))
		}, []string{"race load store", "race put load", "race put store"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, c.ranks, c.order, c.run)
			if diff := cmp.Diff(c.want, kinds(rep)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, rep)
			}
		})
	}
}

// A set that every reader of the word knows is still a hazard with an addition of a rank that does
// not know it. Any number of updates may lie between.
func TestAddAfterForgottenSet(t *testing.T) {
	for _, between := range []int{0, 1, 3, 8, 40} {
		rep := judged(t, 3, mem.PutSignal, func(h *account) {
			h.set(0, wordOf(1, 0), 500)
			h.quiet(0)
			h.wait(1, 0, tl.GE, 500)
			for i := range between {
				h.quiet(0)
				h.notify(0, wordOf(1, 0), 1)
				h.wait(1, 0, tl.GE, int64(501+i))
			}
			h.notify(2, wordOf(1, 0), 1)
		})
		if got := kinds(rep); !slices.Contains(got, "lost_update notify notify") {
			t.Errorf("with %d additions between: %q", between, got)
		}
	}
	rep := judged(t, 3, mem.PutSignal, func(h *account) { // rank 2 knows the set from rank 1
		h.set(0, wordOf(1, 0), 500)
		h.quiet(0)
		h.wait(1, 0, tl.GE, 500)
		h.notify(1, wordOf(2, 0), 1)
		h.wait(2, 0, tl.GE, 1)
		for i := range 8 {
			h.quiet(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, int64(501+i))
		}
		h.notify(2, wordOf(1, 0), 1)
	})
	if rep.Total != 0 {
		t.Errorf("an addition that knows the set:\n%v", rep)
	}
}
