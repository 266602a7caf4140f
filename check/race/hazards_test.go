package race_test

import (
	"strings"
	"testing"

	"kernbench/mem"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

// Each case has a twin that differs in one line. One of the two has a hazard.
func TestHazards(t *testing.T) {
	const n = 64
	data := func(r int) span { return at(r, 0, n) }
	out := func(r int) span { return at(r, 4096, n) }
	cases := []struct {
		name  string
		ranks int
		order mem.Ordering
		run   func(h *account)
		want  []string
	}{
		{"put, notify", 2, mem.PutSignal, func(h *account) {
			h.put(0, data(1), data(0))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, []string{"race put load"}},
		{"put, fence, notify", 2, mem.PutSignal, func(h *account) {
			h.put(0, data(1), data(0))
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, nil},
		{"put, quiet, notify", 2, mem.PutSignal, func(h *account) {
			h.put(0, data(1), data(0))
			h.quiet(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, nil},
		{"put, notify, by channel", 2, mem.ByChannel, func(h *account) {
			h.put(0, data(1), data(0))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, []string{"race put load"}},
		{"put, notify, in order", 2, mem.InOrder, func(h *account) {
			h.put(0, data(1), data(0))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, nil},
		{"put, notify of another, in order", 3, mem.InOrder, func(h *account) {
			h.put(0, data(1), data(0))
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, []string{"race put load"}},
		{"put, notify of another, sequential", 3, mem.Sequential, func(h *account) {
			h.put(0, data(1), data(0))
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, nil},
		{"put, fence, notify of another peer", 3, mem.PutSignal, func(h *account) { // a fence orders per destination
			h.put(0, data(1), data(0))
			h.fence(0)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, []string{"race put load"}},

		{"put_signal: own data", 2, mem.PutSignal, func(h *account) {
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, nil},
		{"put_signal: a put before it", 2, mem.PutSignal, func(h *account) {
			h.put(0, out(1), data(0))
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, out(1))
		}, []string{"race put load"}},
		{"put_signal: a put before it, fence", 2, mem.PutSignal, func(h *account) {
			h.put(0, out(1), data(0))
			h.fence(0)
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, out(1))
		}, nil},
		{"put_signal: a put before it, by channel", 2, mem.ByChannel, func(h *account) {
			h.put(0, out(1), data(0))
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, out(1))
		}, nil},
		{"put_signal, notify, by channel: the notify comes after the signal and so after the data", 2, mem.ByChannel, func(h *account) {
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.notify(0, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			h.read(1, data(1))
		}, nil},
		{"put_signal, notify", 2, mem.PutSignal, func(h *account) {
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.notify(0, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			h.read(1, data(1))
		}, []string{"race put_signal load"}},
		{"two put_signals on one counter, wait for both", 2, mem.PutSignal, func(h *account) {
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.putSignal(0, out(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 2)
			h.read(1, data(1))
			h.read(1, out(1))
		}, nil},
		{"two put_signals on one counter, wait for one: the second may come first", 2, mem.PutSignal, func(h *account) {
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.putSignal(0, out(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, []string{"race put_signal load"}},
		{"the same, where the second comes after the wait", 2, mem.PutSignal, func(h *account) {
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
			h.putSignal(0, out(1), data(0), wordOf(1, 0), 1)
		}, []string{"race put_signal load"}},
		{"the same, by channel: the first comes first", 2, mem.ByChannel, func(h *account) {
			h.putSignal(0, data(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
			h.putSignal(0, out(1), data(0), wordOf(1, 0), 1)
		}, nil},

		{"source overwritten before quiet", 2, mem.PutSignal, func(h *account) {
			h.putNBI(0, data(1), data(0))
			h.store(0, data(0))
		}, []string{"race put_nbi store"}},
		{"source overwritten after quiet", 2, mem.PutSignal, func(h *account) {
			h.putNBI(0, data(1), data(0))
			h.quiet(0)
			h.store(0, data(0))
		}, nil},
		{"source overwritten after a blocking put", 2, mem.PutSignal, func(h *account) {
			h.put(0, data(1), data(0))
			h.store(0, data(0))
		}, nil},
		{"source overwritten after an answer to its signal", 2, mem.PutSignal, func(h *account) {
			h.putSignalNBI(0, data(1), data(0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.notify(1, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			h.store(0, data(0))
		}, nil},
		{"source stored just before the put", 2, mem.PutSignal, func(h *account) {
			h.store(0, data(0))
			h.putNBI(0, data(1), data(0))
		}, nil},
		{"get into memory that is read before quiet", 2, mem.PutSignal, func(h *account) {
			h.getNBI(0, data(0), out(1))
			h.read(0, data(0))
		}, []string{"race get load"}},
		{"get into memory that is read after quiet", 2, mem.PutSignal, func(h *account) {
			h.getNBI(0, data(0), out(1))
			h.quiet(0)
			h.read(0, data(0))
		}, nil},
		{"two puts to the same bytes", 2, mem.PutSignal, func(h *account) {
			h.putTensor(0, data(1))
			h.putTensor(0, data(1))
		}, []string{"race put put"}},
		{"two puts to the same bytes, fence", 2, mem.PutSignal, func(h *account) {
			h.putTensor(0, data(1))
			h.fence(0)
			h.putTensor(0, data(1))
		}, nil},
		{"two puts to the same bytes, by channel", 2, mem.ByChannel, func(h *account) {
			h.putTensor(0, data(1))
			h.putTensor(0, data(1))
		}, nil},
		{"put, fence, load of the same bytes: fences are not for loads", 2, mem.PutSignal, func(h *account) {
			h.putTensor(0, data(1))
			h.fence(0)
			h.read(0, data(1))
		}, []string{"race put load"}},

		{"store, notify", 2, mem.PutSignal, func(h *account) {
			h.store(0, data(0))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(0))
		}, []string{"race store load"}},
		{"store, pipe barrier, notify", 2, mem.PutSignal, func(h *account) {
			h.store(0, data(0))
			h.drain(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(0))
		}, nil},
		{"store to own memory, fence, notify of a peer: another destination", 2, mem.PutSignal, func(h *account) {
			h.store(0, data(0))
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(0))
		}, []string{"race store load"}},
		{"store to a peer's memory, fence, notify of the peer", 2, mem.PutSignal, func(h *account) {
			h.store(0, data(1))
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, data(1))
		}, nil},
		{"load, notify \"consumed\"", 2, mem.PutSignal, func(h *account) {
			h.load(0, data(1))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, data(1))
		}, []string{"race load store"}},
		{"load, use, notify \"consumed\"", 2, mem.PutSignal, func(h *account) {
			h.read(0, data(1))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, data(1))
		}, nil},
		{"use after the notify does not help", 2, mem.PutSignal, func(h *account) {
			op := h.load(0, data(1))
			h.notify(0, wordOf(1, 0), 1)
			h.use(0, op)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, data(1))
		}, []string{"race load store"}},
		{"no wait", 2, mem.PutSignal, func(h *account) {
			h.store(0, data(0))
			h.drain(0)
			h.notify(0, wordOf(1, 0), 1)
			h.read(1, data(0))
		}, []string{"race store load"}},
		{"the other order in the run", 2, mem.PutSignal, func(h *account) {
			h.read(1, data(0))
			h.store(0, data(0))
			h.drain(0)
			h.notify(0, wordOf(1, 0), 1)
		}, []string{"race load store"}},
		{"read and read", 2, mem.PutSignal, func(h *account) {
			h.read(1, data(0))
			h.read(0, data(0))
		}, nil},
		{"neighbouring bytes", 2, mem.PutSignal, func(h *account) {
			h.store(0, at(0, 0, 64))
			h.store(1, at(0, 64, 64))
		}, nil},
		{"one byte in common", 2, mem.PutSignal, func(h *account) {
			h.store(0, at(0, 0, 65))
			h.store(1, at(0, 64, 64))
		}, []string{"race store store"}},
		{"rows between rows", 2, mem.PutSignal, func(h *account) {
			h.store(0, span{0, 0, 64, 4, 128})
			h.store(1, span{0, 64, 64, 4, 128})
		}, nil},
		{"rows across rows", 2, mem.PutSignal, func(h *account) {
			h.store(0, span{0, 0, 65, 4, 128})
			h.store(1, span{0, 64, 64, 4, 128})
		}, []string{"race store store"}},
		{"across a page", 2, mem.PutSignal, func(h *account) {
			h.store(0, at(0, 0, 100_000))
			h.store(1, at(0, 50_000, 1))
			h.store(1, at(0, 99_999, 1))
		}, []string{"race store store"}},
		{"sync without quiet", 2, mem.PutSignal, func(h *account) {
			h.putTensor(0, data(1))
			h.sync()
			h.read(1, data(1))
		}, []string{"race put load"}},
		{"sync does not complete stores", 2, mem.PutSignal, func(h *account) {
			h.store(0, data(0))
			h.sync()
			h.read(1, data(0))
		}, []string{"race store load"}},
		{"sync after a pipe barrier", 2, mem.PutSignal, func(h *account) {
			h.store(0, data(0))
			h.drain(0)
			h.sync()
			h.read(1, data(0))
		}, nil},
		{"barrier", 2, mem.PutSignal, func(h *account) {
			h.putTensor(0, data(1))
			h.barrier()
			h.read(1, data(1))
		}, nil},
		{"barrier of 5", 5, mem.PutSignal, func(h *account) {
			for r := range 5 {
				h.putTensor(r, at((r+3)%5, 64*int64(r), 64))
			}
			h.barrier()
			for r := range 5 {
				h.read(r, at(r, 0, 320))
			}
			h.barrier()
			for r := range 5 {
				h.store(r, at(r, 0, 320))
			}
		}, nil},
		{"a second launch", 2, mem.PutSignal, func(h *account) {
			h.putTensor(0, data(1))
			h.end()
			h.launch()
			h.read(1, data(1))
		}, nil},

		{"combines", 3, mem.PutSignal, func(h *account) {
			h.combine(0, data(2), false)
			h.combine(1, data(2), false)
			h.barrier()
			h.read(2, data(2))
		}, nil},
		{"combines, read without a barrier: both are reported", 3, mem.PutSignal, func(h *account) {
			h.combine(0, data(2), false)
			h.combine(1, data(2), false)
			h.read(2, data(2))
		}, []string{"race put_combine load"}},
		{"a combine and a put", 3, mem.PutSignal, func(h *account) {
			h.combine(0, data(2), false)
			h.putTensor(1, data(2))
		}, []string{"race put_combine put"}},
		{"a store that only one of two combines waits for", 3, mem.PutSignal, func(h *account) {
			h.store(2, data(2))
			h.drain(2)
			h.notify(2, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			h.combine(0, data(2), false)
			h.combine(1, data(2), false)
		}, []string{"race store put_combine"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, c.ranks, c.order, c.run)
			if diff := cmp.Diff(c.want, kinds(rep)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, rep)
			}
			for _, h := range rep.Hazards {
				if s := h.String(); h.Missing == "" || !strings.Contains(s, h.First.Line) ||
					!strings.Contains(s, h.Second.Line) || !strings.Contains(s, "rank") {
					t.Errorf("a hazard without its places:\n%v", s)
				}
			}
		})
	}
}
