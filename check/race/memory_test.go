package race_test

import (
	"testing"

	"kernbench/check/race"
	"kernbench/internal/exhaustive"
	"kernbench/mem"
	"kernbench/tl"
)

// round is one round of a protocol that goes on for ever.
type round struct {
	name  string
	ranks int
	order mem.Ordering
	do    func(h *account, i int)
}

var rounds = []round{
	{"stage, barrier, pull, barrier", 8, mem.PutSignal, func(h *account, i int) {
		for r := range 8 {
			h.store(r, at(r, 0, 64))
		}
		h.barrier()
		for r := range 8 {
			h.read(r, at((r+1)%8, 0, 64))
		}
		h.barrier()
	}},
	{"mesh counting generations", 5, mem.PutSignal, func(h *account, i int) {
		for r := range 5 {
			h.store(r, at(r, 0, 64))
		}
		mesh(h, 1, int64(2*i+1))
		for r := range 5 {
			h.read(r, at((r+2)%5, 0, 64))
		}
		mesh(h, 1, int64(2*i+2))
	}},
	{"ring of put_signals without quiet, two buffers", 4, mem.PutSignal, func(h *account, i int) {
		for r := range 4 {
			h.fence(r)
			h.putSignal(r, at((r+1)%4, int64(i%2)*64, 64), at(r, 4096, 64), wordOf((r+1)%4, 0), 1)
		}
		for r := range 4 {
			h.wait(r, 0, tl.GE, int64(i+1))
			h.read(r, at(r, int64(i%2)*64, 64))
			h.drain(r)
			h.notify(r, wordOf((r+3)%4, 1), 1)
		}
		for r := range 4 {
			h.wait(r, 1, tl.GE, int64(i+1))
		}
	}},
	{"one way only: no answer", 2, mem.ByChannel, func(h *account, i int) {
		h.putSignal(0, at(1, int64(i%1000)*64, 64), at(0, 4096, 64), wordOf(1, 0), 1)
		h.wait(1, 0, tl.GE, int64(i+1))
	}},
	{"one counter of all", 4, mem.PutSignal, func(h *account, i int) {
		for r := range 4 {
			h.store(r, at(r, 0, 64))
			h.quiet(r)
			for q := range 4 {
				h.notify(r, wordOf(q, 0), 1)
			}
		}
		for r := range 4 {
			h.wait(r, 0, tl.GE, int64(4*i+4))
			h.read(r, at((r+1)%4, 0, 64))
		}
		h.barrier()
	}},
	{"CAS barrier", 3, mem.PutSignal, func(h *account, i int) {
		scatterReduce(h, i)
		casBarrier(h, []int{i % 3, (i + 1) % 3, (i + 2) % 3})
	}},
	{"flags set and answered", 2, mem.PutSignal, func(h *account, i int) {
		h.put(0, at(1, 0, 64), at(0, 0, 64))
		h.fence(0)
		h.set(0, wordOf(1, 0), int64(i+1))
		h.wait(1, 0, tl.EQ, int64(i+1))
		h.read(1, at(1, 0, 64))
		h.set(1, wordOf(0, 0), int64(i+1))
		h.wait(0, 0, tl.EQ, int64(i+1))
	}},
	{"fetch_add", 3, mem.PutSignal, func(h *account, i int) {
		for r := range 3 {
			h.fetchAdd(r, wordOf(0, 0), 1)
		}
	}},
	{"launches", 3, mem.PutSignal, func(h *account, i int) {
		for r := range 3 {
			h.putSignal(r, at((r+1)%3, 0, 64), at(r, 4096, 64), wordOf((r+1)%3, 0), 1)
		}
		h.end()
		h.launch()
		for r := range 3 {
			h.wait(r, 0, tl.GE, int64(i+1))
		}
	}},
	{"ring messages", 2, mem.PutSignal, func(h *account, i int) {
		h.send(0, 1)
		s := h.recv(1, 1)
		h.useSlot(1, 1, s)
		h.credit(1, 1, s)
	}},
}

// What the judge holds is bounded by memory and agents, not by how long the program runs.
func TestMemoryIsBounded(t *testing.T) {
	each := 1500
	if exhaustive.On() {
		each = 3000
	}
	for _, c := range rounds {
		t.Run(c.name, func(t *testing.T) {
			d := race.New(race.Options{Order: c.order})
			h := newAccount(t, d, c.ranks)
			h.line = "kernel.go:1"
			var events, clocks, covers [3]int
			for k := range 3 {
				for i := k * each; i < (k+1)*each; i++ {
					c.do(h, i)
					// The most within some rounds: what is kept comes and goes in bursts.
					if i%each > each-100 {
						e, v := d.Live()
						events[k], clocks[k], covers[k] = max(events[k], e), max(clocks[k], v), max(covers[k], d.Covers())
					}
				}
			}
			if rep := d.Report(); rep.Total > 0 || rep.Again {
				t.Fatal(rep, rep.Again)
			}
			if events[2] > events[1]+8 || clocks[2] > clocks[1]+8 || covers[2] > covers[1]+8 {
				t.Errorf("after %d rounds, and two and three times as many: %v events, %v clocks, %v covers",
					each, events, clocks, covers)
			}
		})
	}
}

// An event has two lines of a cache: see event.
func TestEventBytes(t *testing.T) {
	if race.EventBytes != 128 {
		t.Errorf("an event has %d bytes, want 128", race.EventBytes)
	}
}

// BenchmarkRecords is the cost of a record among 64 agents, in rounds of store, barrier and
// remote loads.
func BenchmarkRecords(b *testing.B) {
	for _, c := range []round{
		{"pull from 8 peers", 64, mem.PutSignal, func(h *account, i int) {
			for r := range 64 {
				h.store(r, at(r, 0, 4096))
				h.drain(r)
			}
			h.sync()
			for r := range 64 {
				for k := range 8 {
					h.read(r, at((r+k)%64, int64(k)*512, 512))
				}
			}
			h.sync()
		}},
		{"put_signal ring", 64, mem.PutSignal, func(h *account, i int) {
			for r := range 64 {
				h.fence(r)
				h.putSignal(r, at((r+1)%64, int64(i%2)*64, 64), at(r, 4096, 64), wordOf((r+1)%64, 0), 1)
			}
			for r := range 64 {
				h.wait(r, 0, tl.GE, int64(i+1))
				h.read(r, at(r, int64(i%2)*64, 64))
				h.notify(r, wordOf((r+63)%64, 1), 1)
			}
			for r := range 64 {
				h.wait(r, 1, tl.GE, int64(i+1))
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := race.New(race.Options{})
			h := newAccount(b, d, c.ranks)
			h.line = "kernel.go:1" // finding out would cost more than judging
			for i := range 8 {
				c.do(h, i)
			}
			start := h.added
			i := 8
			b.ReportAllocs()
			for b.Loop() {
				c.do(h, i)
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(h.added-start), "ns/record")
			if rep := d.Report(); rep.Total > 0 {
				b.Fatal(rep)
			}
		})
	}
}
