package race_test

import (
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

// pullRing is a ring all-reduce that reads the left neighbour's chunk in each round, after
// waits(round) have ordered the round.
func pullRing(ranks int, meet func(h *account, round int)) func(h *account) {
	const n = 64
	return func(h *account) {
		p := ranks
		chunk := func(r, c int) span { return at(r, int64((c%p+p)%p)*n, n) }
		for r := range p {
			h.store(r, at(r, 0, int64(p)*n))
		}
		for s := 1; s <= 2*(p-1); s++ {
			for r := range p {
				h.drain(r)
			}
			meet(h, s)
			for r := range p {
				c := r - s - 1
				if s >= p {
					c = r - (s - p + 1)
				}
				h.read(r, chunk((r+p-1)%p, c))
				if s < p {
					h.read(r, chunk(r, c))
				}
				h.store(r, chunk(r, c))
			}
		}
	}
}

// tellRight is a neighbour barrier: each rank tells its right one in word w(round), which
// waits for v(round).
func tellRight(skip int, w func(round int) int, add, v func(round int) int64) func(h *account, round int) {
	return func(h *account, s int) {
		for r := range h.ranks {
			h.notify(r, wordOf((r+1)%h.ranks, w(s)), add(s))
		}
		for r := range h.ranks {
			if s != skip {
				h.wait(r, w(s), tl.GE, v(s))
			}
		}
	}
}

func zero(int) int        { return 0 }
func same(s int) int      { return s }
func one(int) int64       { return 1 }
func growing(s int) int64 { return int64(s) }

// mesh is a barrier where every rank notifies every other one in a word of its own.
func mesh(h *account, add, v int64) {
	for r := range h.ranks {
		h.drain(r)
		for q := range h.ranks {
			if q != r {
				h.notify(r, wordOf(q, r), add)
			}
		}
	}
	for r := range h.ranks {
		for q := range h.ranks {
			if q != r {
				h.wait(r, q, tl.GE, v)
			}
		}
	}
}

// staged is rounds of: store own scratch, meet, read all ranks', (meet again).
func staged(ranks, rounds int, before, after func(h *account, round int)) func(h *account) {
	return func(h *account) {
		for i := 1; i <= rounds; i++ {
			for r := range ranks {
				h.store(r, at(r, 0, 64))
			}
			before(h, i)
			for r := range ranks {
				for q := range ranks {
					h.read(r, at(q, 0, 64))
				}
			}
			if after != nil {
				after(h, i)
			}
		}
	}
}

// casBarrier sets a flag at every peer and takes those down that the peers have set here.
func casBarrier(h *account, order []int) {
	for _, r := range order {
		for q := range h.ranks {
			if !h.cas(r, wordOf(q, r), 0, 1) {
				h.tb.Fatal("the flag was still up")
			}
		}
	}
	for _, r := range order {
		for q := range h.ranks {
			for !h.cas(r, wordOf(r, q), 1, 0) {
				h.tb.Fatal("the flag was down")
			}
		}
	}
}

// scatterReduce is a call of: copy to all ranks, meet, reduce own memory.
func scatterReduce(h *account, call int) {
	const n = 64
	p := h.ranks
	order := make([]int, p)
	for r := range p {
		order[r] = (r + call) % p
		for i := range p {
			q := (r + i + 1) % p
			h.add(r, "copy", history.Record{
				Kind: history.Copy, Op: h.log.NextOp(), Source: at(r, 1<<16+int64(q)*n, n).rng(), Range: at(q, int64(r)*n, n).rng(),
			})
		}
	}
	casBarrier(h, order)
	for r := range p {
		h.read(r, at(r, 0, n*int64(p)))
		h.store(r, at(r, 1<<18, n))
		h.drain(r)
	}
}

func TestProtocols(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		run   func(h *account)
		want  []string
	}{
		{"pull ring, one word per round", 4, pullRing(4, tellRight(0, same, one, one)), nil},
		{"pull ring of 2", 2, pullRing(2, tellRight(0, same, one, one)), nil},
		{"pull ring of 7", 7, pullRing(7, tellRight(0, same, one, one)), nil},
		{"pull ring, round 1 does not wait", 4, pullRing(4, tellRight(1, same, one, one)), []string{"race store load"}},
		{"pull ring, round 3 does not wait", 4, pullRing(4, tellRight(3, same, one, one)), []string{"race load store", "race store load"}},
		{"pull ring, the last round does not wait", 4, pullRing(4, tellRight(6, same, one, one)),
			[]string{"race load store", "race store load"}},
		{"pull ring, counting rounds", 4, pullRing(4, tellRight(0, zero, one, growing)), nil},
		{"pull ring, waits for >= 1 in every round", 4, pullRing(4, tellRight(0, zero, one, one)),
			[]string{"race load store", "race store load"}},

		{"barrier +1, >= 1: once", 3, staged(3, 1, func(h *account, i int) { mesh(h, 1, 1) }, nil), nil},
		{"barrier +1, >= 1: the second use", 3, staged(3, 1, func(h *account, i int) { mesh(h, 1, 1) }, func(h *account, i int) {
			mesh(h, 1, 1)
			for r := range h.ranks {
				h.store(r, at(r, 0, 64))
			}
		}), []string{"race load store"}},
		{"barrier +1, >= generation", 3, staged(3, 4,
			func(h *account, i int) { mesh(h, 1, int64(2*i-1)) },
			func(h *account, i int) { mesh(h, 1, int64(2*i)) }), nil},
		{"scratch used again after one barrier per round", 3, staged(3, 2,
			func(h *account, i int) { mesh(h, 1, int64(i)) }, nil), []string{"race load store"}},
		{"one barrier per round, two buffers", 3, func(h *account) {
			for i := 1; i <= 6; i++ {
				lo := int64(i%2) * 64
				for r := range 3 {
					h.store(r, at(r, lo, 64))
				}
				mesh(h, 1, int64(i))
				for r := range 3 {
					for q := range 3 {
						h.read(r, at(q, lo, 64))
					}
				}
			}
		}, nil},

		{"+= epoch, >= epoch: twice", 3, epochs(2), nil},
		{"+= epoch, >= epoch: the third time", 3, epochs(3), []string{"race store load"}},

		{"scatter, CAS barrier, reduce: one call", 3, func(h *account) { scatterReduce(h, 0) }, nil},
		{"two calls", 3, func(h *account) { scatterReduce(h, 0); scatterReduce(h, 1) }, []string{"race load copy"}},
		{"two calls with a barrier between", 3, func(h *account) {
			scatterReduce(h, 0)
			h.barrier()
			scatterReduce(h, 1)
		}, nil},
		{"many calls with the CAS barrier between, 2 ranks", 2, calls(8), nil},
		{"many calls with the CAS barrier between, 4 ranks", 4, calls(8), nil},

		{"producer and consumer, slots with counts both ways", 2, queue(20, 4, 0), nil},
		{"producer and consumer, one round too early", 2, queue(20, 4, 1), []string{"race load put_signal"}},

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
		{"load_scalar of a word that changes", 2, func(h *account) {
			h.set(0, wordOf(1, 0), 7)
			h.loadScalar(1, 0)
		}, []string{"race notify load_scalar"}},
		{"load_scalar of a word that changes later", 2, func(h *account) {
			h.loadScalar(1, 0)
			h.set(0, wordOf(1, 0), 7)
		}, []string{"race load_scalar notify"}},
		{"load_scalar of a word that is changed when it has been read", 2, func(h *account) {
			h.loadScalar(1, 0)
			h.notify(1, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			h.set(0, wordOf(1, 0), 7)
		}, nil},
		{"load_scalar over and over", 2, func(h *account) {
			for i := range 3 {
				h.loadScalar(1, 0)
				if i == 1 {
					h.set(0, wordOf(1, 0), 7)
				}
			}
		}, nil},
		{"counts, fence, flag, load_scalar", 3, counts(func(h *account, r int) { h.fence(r) }), nil},
		{"counts, quiet, flag, load_scalar", 3, counts(func(h *account, r int) { h.quiet(r) }), nil},
		{"counts, flag, load_scalar", 3, counts(func(*account, int) {}), []string{"race notify load_scalar"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, c.ranks, mem.PutSignal, c.run)
			if diff := cmp.Diff(c.want, kinds(rep)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, rep)
			}
			if rep.Unsettled {
				t.Error("unsettled")
			}
			for i := range rep.Hazards {
				if m := rep.Hazards[i].Missing; strings.Contains(m, "  ") || strings.Contains(m, "at  ") {
					t.Errorf("a place is missing: %s", m)
				}
			}
		})
	}
}

// counts is rounds in which all others count items of rank 0, and say when they have done so.
func counts(between func(h *account, r int)) func(h *account) {
	return func(h *account) {
		others := int64(h.ranks - 1)
		for round := range int64(3) {
			for r := 1; r < h.ranks; r++ {
				h.notify(r, wordOf(0, 0), int64(r))
				between(h, r)
				h.notify(r, wordOf(0, 1), 1)
			}
			h.wait(0, 1, tl.GE, others*(round+1))
			h.loadScalar(0, 0)
			h.barrier()
		}
	}
}

// epochs is rounds of staging with two barriers whose k-th use adds k and waits for k.
func epochs(uses int) func(h *account) {
	return func(h *account) {
		for i := 1; i <= uses; i++ {
			for r := range h.ranks {
				if i%2 == 1 {
					h.store(r, at(r, 0, 64))
				}
			}
			mesh(h, int64(i), int64(i))
			for r := range h.ranks {
				if i%2 == 1 {
					h.read(r, at((r+1)%h.ranks, 0, 64))
				}
			}
		}
	}
}

func calls(n int) func(h *account) {
	return func(h *account) {
		for i := range n {
			scatterReduce(h, i)
			order := make([]int, h.ranks)
			for r := range h.ranks {
				order[r] = (r + i*3 + 1) % h.ranks
			}
			casBarrier(h, order)
		}
	}
}

// queue is a producer that puts items into slots of the consumer, which tells it what it has
// read. early is how many items too early the producer uses a slot again.
func queue(items, slots, early int) func(h *account) {
	return func(h *account) {
		for i := range items {
			if need := i - slots + 1 - early; need > 0 {
				h.wait(0, 0, tl.GE, int64(need))
			}
			h.fence(0)
			h.putSignal(0, at(1, int64(i%slots)*64, 64), at(0, 0, 64), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, int64(i+1))
			h.read(1, at(1, int64(i%slots)*64, 64))
			h.notify(1, wordOf(0, 0), 1)
		}
	}
}

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

func TestSlots(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(h *account)
		want []string
	}{
		{"used before the credit", func(h *account) {
			for range 6 {
				h.send(0, 3)
				s := h.recv(1, 3)
				h.useSlot(1, 3, s)
				h.credit(1, 3, s)
			}
		}, nil},
		{"used after the credit, then sent", func(h *account) {
			h.send(0, 3)
			s := h.recv(1, 3)
			h.credit(1, 3, s)
			h.useSlot(1, 3, s)
			h.send(0, 3)
			h.send(0, 3)
		}, []string{"slot store send"}},
		{"used after the credit, and sent before", func(h *account) {
			h.send(0, 3)
			s := h.recv(1, 3)
			h.credit(1, 3, s)
			h.send(0, 3)
			h.send(0, 3)
			h.useSlot(1, 3, s)
		}, []string{"slot store send"}},
		{"used after the credit, and never sent again", func(h *account) {
			h.send(0, 3)
			s := h.recv(1, 3)
			h.credit(1, 3, s)
			h.useSlot(1, 3, s)
			h.send(0, 3)
		}, nil},
		{"messages order memory", func(h *account) {
			h.store(0, at(0, 0, 64))
			h.drain(0)
			h.send(0, 3)
			h.recv(1, 3)
			h.read(1, at(0, 0, 64))
		}, nil},
		{"messages do not complete stores", func(h *account) {
			h.store(0, at(0, 0, 64))
			h.send(0, 3)
			h.recv(1, 3)
			h.read(1, at(0, 0, 64))
		}, []string{"race store load"}},
		{"credits order memory", func(h *account) {
			for range 2 {
				h.send(0, 3)
			}
			s := h.recv(1, 3)
			h.store(1, at(0, 0, 64))
			h.drain(1)
			h.credit(1, 3, s)
			h.send(0, 3)
			h.read(0, at(0, 0, 64))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, 2, mem.PutSignal, c.run)
			if diff := cmp.Diff(c.want, kinds(rep)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, rep)
			}
		})
	}
}

func TestStreams(t *testing.T) {
	agent := func(l *history.Log, stream, program int) history.Agent {
		return l.Agent(history.Who{Rank: 0, PE: 0, Stream: stream, Program: program})
	}
	for _, c := range []struct {
		name string
		run  func(l *history.Log, s1, s2 history.Agent)
		want []string
	}{
		{"copy, event, copy", func(l *history.Log, s1, s2 history.Agent) {
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 1, Call: "copy", Range: at(1, 0, 64).rng(), Source: at(0, 0, 64).rng()})
			l.Add(history.Record{Kind: history.Mark, Agent: s1, Ring: 9})
			l.Add(history.Record{Kind: history.Pass, Agent: s2, Ring: 9})
			l.Add(history.Record{Kind: history.Copy, Agent: s2, Op: 2, Call: "copy", Range: at(0, 0, 64).rng(), Source: at(1, 0, 64).rng()})
		}, nil},
		{"copy and copy", func(l *history.Log, s1, s2 history.Agent) {
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 1, Call: "copy", Range: at(1, 0, 64).rng(), Source: at(0, 0, 64).rng()})
			l.Add(history.Record{Kind: history.Mark, Agent: s1, Ring: 9})
			l.Add(history.Record{Kind: history.Copy, Agent: s2, Op: 2, Call: "copy", Range: at(0, 0, 64).rng(), Source: at(1, 0, 64).rng()})
		}, []string{"race copy copy"}},
		{"copy, program, copy", func(l *history.Log, s1, s2 history.Agent) {
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 1, Call: "copy", Range: at(1, 0, 64).rng(), Source: at(0, 0, 64).rng()})
			for i := range 3 {
				p := agent(l, 1, i)
				l.Add(history.Record{Kind: history.Start, Agent: p, Other: s1})
				l.Add(history.Record{Kind: history.Store, Agent: p, Op: uint64(5 + i), Call: "store", Range: at(1, int64(i)*8, 8).rng()})
			}
			for i := range 3 {
				l.Add(history.Record{Kind: history.Join, Agent: s1, Other: agent(l, 1, i)})
			}
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 9, Call: "copy", Range: at(0, 0, 64).rng(), Source: at(1, 0, 64).rng()})
		}, nil},
		{"write_value is over before the stream goes on", func(l *history.Log, s1, s2 history.Agent) {
			write := func(s history.Agent, v int64) {
				l.Add(history.Record{Kind: history.Notify, Agent: s, Call: "write_value", Word: wordOf(1, 0), Peer: 1,
					Type: mem.Int32, Update: tl.SignalSet, Value: v})
			}
			write(s1, 1)
			l.Add(history.Record{Kind: history.Mark, Agent: s1, Ring: 9})
			l.Add(history.Record{Kind: history.Pass, Agent: s2, Ring: 9})
			write(s2, 2)
		}, nil},
		{"two grids, one after the other", func(l *history.Log, s1, s2 history.Agent) {
			for op := range uint64(2) {
				for i := range 3 {
					p := agent(l, 1, i)
					l.Add(history.Record{Kind: history.Start, Agent: p, Other: s1})
					l.Add(history.Record{Kind: history.Store, Agent: p, Op: 10*op + uint64(5+i), Call: "store",
						Range: at(1, int64(i+int(op))%3*8, 8).rng()})
				}
				for i := range 3 {
					l.Add(history.Record{Kind: history.Join, Agent: s1, Other: agent(l, 1, i)})
				}
			}
		}, nil},
		{"programs of a grid", func(l *history.Log, s1, s2 history.Agent) {
			for i := range 3 {
				p := agent(l, 1, i)
				l.Add(history.Record{Kind: history.Start, Agent: p, Other: s1})
				l.Add(history.Record{Kind: history.Store, Agent: p, Op: uint64(5 + i), Call: "store", Range: at(1, 0, 8).rng()})
				l.Add(history.Record{Kind: history.Join, Agent: s1, Other: p}) // one after the other in this run
			}
		}, []string{"race store store"}},
		{"write_value, wait_value", func(l *history.Log, s1, s2 history.Agent) {
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 1, Call: "copy", Range: at(1, 0, 64).rng(), Source: at(0, 0, 64).rng()})
			l.Add(history.Record{Kind: history.Notify, Agent: s1, Call: "write_value", Word: wordOf(1, 0), Peer: 1,
				Type: mem.Int32, Update: tl.SignalSet, Value: 1})
			l.Add(history.Record{Kind: history.Wait, Agent: s2, Call: "wait_value", Word: wordOf(1, 0),
				Type: mem.Int32, Cmp: tl.EQ, Value: 1, Seen: 1})
			l.Add(history.Record{Kind: history.Copy, Agent: s2, Op: 2, Call: "copy", Range: at(0, 0, 64).rng(), Source: at(1, 0, 64).rng()})
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := race.New(race.Options{})
			l := d.Log()
			s1, s2 := agent(l, 1, -1), agent(l, 2, -1)
			l.Add(history.Record{Kind: history.Start, Agent: s1})
			l.Add(history.Record{Kind: history.Start, Agent: s2})
			c.run(l, s1, s2)
			if diff := cmp.Diff(c.want, kinds(d.Report())); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, d.Report())
			}
		})
	}
}
