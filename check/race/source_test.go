package race_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// A rank that knows of a put may write its source, whatever later puts read.
func TestSharedSources(t *testing.T) {
	const ranks = 40
	// give lets rank 0 put a source to another rank, which waits.
	give := func(h *account, to, word int, source span) {
		h.putSignal(0, at(to, 4096+8*int64(word), source.n), source, wordOf(to, word), 1)
		h.wait(to, word, tl.GE, 1)
	}
	// write lets a rank write memory of rank 0.
	write := func(h *account, r int, dst span) { h.putTensor(r, dst) }
	rows := func(s span, rows int32, pitch int64) span { s.rows, s.pitch = rows, pitch; return s }
	for _, c := range []struct {
		name      string
		hazardous bool
		passes    int
		program   func(h *account)
	}{
		{"an earlier source", false, 1, func(h *account) {
			give(h, 1, 0, at(0, 0, 8))
			give(h, 2, 0, at(0, 64, 8))
			write(h, 1, at(0, 0, 8))
		}},
		{"a later source", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 0, 8))
			give(h, 2, 0, at(0, 64, 8))
			write(h, 1, at(0, 64, 8))
		}},
		{"a source that is read again", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 0, 8))
			give(h, 2, 0, at(0, 0, 8))
			write(h, 1, at(0, 0, 8))
		}},
		{"the next stretch", false, 1, func(h *account) {
			give(h, 1, 0, at(0, 0, 8))
			give(h, 2, 0, at(0, 8, 8))
			write(h, 1, at(0, 0, 8))
		}},
		{"the next stretch of a large page", false, 1, func(h *account) {
			for i := range int64(4) {
				h.store(0, at(0, 32*i, 8))
			}
			give(h, 1, 0, at(0, 200, 8))
			give(h, 2, 0, at(0, 208, 8))
			write(h, 1, at(0, 200, 8))
		}},
		{"the next stretch of a large page, read later", true, 2, func(h *account) {
			for i := range int64(4) {
				h.store(0, at(0, 32*i, 8))
			}
			give(h, 1, 0, at(0, 200, 8))
			give(h, 2, 0, at(0, 208, 8))
			write(h, 1, at(0, 208, 8))
		}},
		{"a stretch before another one", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 64, 8))
			give(h, 2, 0, at(0, 8, 8))
			give(h, 3, 0, at(0, 0, 16))
			write(h, 1, at(0, 64, 8))
			write(h, 1, at(0, 0, 8))
		}},
		{"the second of two stretches is read again", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 0, 8))
			give(h, 2, 0, at(0, 8, 8))
			give(h, 3, 0, at(0, 8, 8))
			write(h, 1, at(0, 8, 8))
		}},
		{"a source that was loaded before", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 64, 8))
			h.read(0, at(0, 0, 8))
			give(h, 2, 0, at(0, 0, 8))
			write(h, 1, at(0, 64, 8))
			write(h, 1, at(0, 0, 8))
		}},
		{"a stretch between", false, 1, func(h *account) {
			give(h, 1, 0, at(0, 0, 24))
			give(h, 2, 0, at(0, 8, 8))
			write(h, 1, at(0, 16, 8))
			write(h, 1, at(0, 0, 8))
		}},
		{"a stretch between, read later", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 0, 24))
			give(h, 2, 0, at(0, 8, 8))
			write(h, 1, at(0, 8, 8))
		}},
		{"two stretches become one", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 0, 8))
			give(h, 2, 0, at(0, 8, 8))
			give(h, 3, 0, at(0, 0, 16))
			write(h, 2, at(0, 0, 16))
		}},
		{"a load that the source waits for", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 64, 8))
			h.load(0, at(0, 0, 16))
			give(h, 2, 0, at(0, 0, 8))
			write(h, 1, at(0, 64, 8))
			write(h, 1, at(0, 8, 8))
		}},
		{"a load that the source waits for, and a rank that knows of both", false, 2, func(h *account) {
			h.load(0, at(0, 0, 16))
			give(h, 1, 0, at(0, 0, 8))
			write(h, 1, at(0, 0, 16))
		}},
		{"a store that the source waits for", false, 1, func(h *account) {
			h.store(0, at(0, 0, 16))
			give(h, 1, 0, at(0, 0, 8))
			write(h, 1, at(0, 0, 8))
		}},
		{"another reader", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 0, 8))
			h.get(3, at(3, 0, 8), at(0, 0, 8))
			give(h, 2, 0, at(0, 64, 8))
			h.notify(3, wordOf(1, 1), 1)
			write(h, 3, at(0, 0, 8))
		}},
		{"another reader, and a rank that knows of both", false, 1, func(h *account) {
			give(h, 1, 0, at(0, 0, 8))
			h.get(3, at(3, 0, 8), at(0, 0, 8))
			give(h, 2, 0, at(0, 64, 8))
			h.notify(3, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			write(h, 1, at(0, 0, 8))
		}},
		{"a matrix", true, 2, func(h *account) {
			give(h, 1, 0, at(0, 1<<20, 8))
			give(h, 2, 0, at(0, 0, 1<<15))
			write(h, 1, at(0, 1<<20, 8))
			write(h, 1, rows(at(0, 0, 64), 8, 1<<12))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, passes := judgedAs(t, ranks, mem.PutSignal, c.program, func(*race.Detector) {})
			plain, _ := judgedAs(t, ranks, mem.PutSignal, c.program, (*race.Detector).Plain)
			if !slices.Equal(reported(report), reported(plain)) || c.hazardous != (report.Total > 0) || passes != c.passes {
				t.Errorf("with shared sources, in %d passes\n%q\nwithout\n%q", passes, reported(report), reported(plain))
			}
		})
	}
}

// Programs of puts whose sources others write are judged as with an event for each source.
func TestSharedSourcesOfAnyProgram(tt *testing.T) {
	const ranks, words = 3, 4
	rapid.Check(tt, func(t *rapid.T) {
		type step struct{ do, rank, peer, cell, n, word int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 6, 6, 7, 8}).Draw(t, "do"),
				rapid.IntRange(0, ranks-1).Draw(t, "rank"), rapid.IntRange(1, ranks-1).Draw(t, "peer"),
				rapid.IntRange(0, 3).Draw(t, "cell"), rapid.IntRange(1, 2).Draw(t, "n"), rapid.IntRange(0, words-1).Draw(t, "word"),
			}
		}), 1, 30).Draw(t, "steps")
		usual, plain, _ := both(race.Options{Order: mem.PutSignal, Most: 1000}, func(d *race.Detector) bool {
			h := newAccount(tt, d, ranks+32)
			loads := map[int]uint64{}
			for i, s := range steps {
				h.line = fmt.Sprintf("kernel.go:%d", i)
				peer := (s.rank + s.peer) % ranks
				own, w := at(s.rank, 8*int64(s.cell), 8*int64(s.n)), wordOf(peer, s.word)
				there := at(peer, 64+16*int64(s.rank), own.n)
				switch s.do {
				case 0:
					h.putSignal(s.rank, there, own, w, 1)
				case 1:
					h.put(s.rank, there, own)
				case 2:
					h.putTensor(s.rank, at(peer, own.lo, own.n))
				case 3:
					h.store(s.rank, own)
				case 4:
					loads[s.rank] = h.load(s.rank, own)
				case 5:
					if op := loads[s.rank]; op != 0 {
						h.use(s.rank, op)
						delete(loads, s.rank)
					}
				case 6:
					if h.values[wordOf(s.rank, s.word)] == 1 {
						h.wait(s.rank, s.word, tl.GE, 1)
					}
				case 7:
					h.get(s.rank, at(s.rank, 256, own.n), at(peer, own.lo, own.n))
				case 8:
					h.drain(s.rank)
				}
			}
			h.end()
			return true
		})
		if !slices.Equal(usual, plain) {
			t.Fatalf("%v:\n%q\nwith an event for each source:\n%q", steps, usual, plain)
		}
	})
}
