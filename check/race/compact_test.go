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

// reported returns the contents of a report, in an order that does not depend on passes.
func reported(r *race.Report) []string {
	s := []string{r.Class.String(), fmt.Sprint(r.Total, r.Unsettled)}
	for i := range r.Hazards {
		s = append(s, r.Hazards[i].String())
	}
	for i := range r.Depends {
		s = append(s, r.Depends[i].String())
	}
	slices.Sort(s[2:])
	return s
}

// both judges a program as usual, and with all words and readers in full. It is false if the
// program does not end.
func both(o race.Options, program func(d *race.Detector) bool) (usual, plain []string, ok bool) {
	return bothWays(o, func(*race.Detector) {}, program)
}

// bothWays is both with a judge that is changed before each pass.
func bothWays(o race.Options, change func(*race.Detector), program func(d *race.Detector) bool) (usual, plain []string, ok bool) {
	usual, plain = judgedWith(o, change, program), judgedWith(o, (*race.Detector).Plain, program)
	return usual, plain, usual != nil && plain != nil
}

// judgedWith returns what a judge that is changed before each pass reports of a program, or nil if
// the program does not end.
func judgedWith(o race.Options, change func(*race.Detector), program func(d *race.Detector) bool) []string {
	s, _ := passesWith(o, change, program)
	return s
}

// passesWith is judgedWith with the number of passes.
func passesWith(o race.Options, change func(*race.Detector), program func(d *race.Detector) bool) (reports []string, passes int) {
	for d, passes := race.New(o), 1; ; d, passes = d.Next(), passes+1 {
		change(d)
		if !program(d) {
			return nil, passes
		}
		if r := d.Report(); !r.Again {
			return reported(r), passes
		}
		if passes > 4000 {
			panic("passes without end")
		}
	}
}

// Words that are kept as an event or as a settled word are judged as words are. So are puts without
// their signals, of which many agents make use.
func TestCompactWords(tt *testing.T) {
	const ranks, words = 3, 2
	orders := []mem.Ordering{mem.PutSignal, mem.ByChannel, mem.InOrder, mem.Sequential}
	rapid.Check(tt, func(t *rapid.T) {
		type step struct{ do, rank, peer, cell, word, v int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 0, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6, 6, 6, 7, 8, 9, 10, 11, 12, 13}).Draw(t, "do"),
				rapid.IntRange(0, ranks-1).Draw(t, "rank"), rapid.IntRange(1, ranks-1).Draw(t, "peer"),
				rapid.IntRange(0, 1).Draw(t, "cell") * 8, rapid.IntRange(0, words-1).Draw(t, "word"),
				rapid.IntRange(1, 2).Draw(t, "v"),
			}
		}), 1, 30).Draw(t, "steps")
		order := rapid.SampledFrom(orders).Draw(t, "order")
		idle := rapid.SampledFrom([]int{0, 32}).Draw(t, "idle ranks")
		usual, plain, _ := both(race.Options{Order: order, Most: 1000}, func(d *race.Detector) bool {
			h := newAccount(tt, d, ranks+idle)
			for i, s := range steps {
				h.line = fmt.Sprintf("kernel.go:%d", i)
				peer := (s.rank + s.peer) % ranks
				there, w := at(peer, int64(s.cell), 8), wordOf(peer, s.word)
				held := h.values[wordOf(s.rank, s.word)]
				switch s.do {
				case 0:
					h.read(s.rank, there)
				case 1:
					h.read(s.rank, at(s.rank, int64(s.cell), 8))
				case 2:
					h.store(s.rank, there)
				case 3:
					h.putSignal(s.rank, there, at(s.rank, 64, 8), w, 1)
				case 4:
					h.notify(s.rank, w, int64(s.v))
				case 5:
					h.putTensor(s.rank, there)
				case 6:
					if held > 0 {
						h.wait(s.rank, s.word, tl.GE, max(1, held-int64(s.v)+1))
					}
				case 7:
					h.wait(s.rank, s.word, tl.EQ, held)
				case 8:
					h.set(s.rank, w, int64(s.v))
				case 9:
					h.fence(s.rank)
				case 10:
					h.quiet(s.rank)
				case 11:
					h.loadScalar(s.rank, s.word)
				case 12:
					h.fetchAdd(s.rank, w, 1)
				case 13:
					h.end()
					h.launch()
				}
			}
			h.end()
			return true
		})
		if !slices.Equal(usual, plain) {
			t.Fatalf("%v %v:\n%q\nwith all in full:\n%q", order, steps, usual, plain)
		}
	})
}

// Settled words hold numbers of 32 bits. Words with larger ones are judged as those with small
// ones.
func TestCompactWordsOfLargeValues(t *testing.T) {
	w := wordOf(1, 0)
	for _, c := range []struct {
		name    string
		program func(h *account, v int64)
	}{
		{"one addition", func(h *account, v int64) {
			h.notify(0, w, v)
			h.wait(1, 0, tl.GE, v)
			h.notify(0, w, -v)
		}},
		{"two additions", func(h *account, v int64) {
			h.notify(0, w, v)
			h.notify(0, w, v)
			h.wait(1, 0, tl.GE, 2*v)
			h.notify(0, w, -v)
		}},
		{"a later launch", func(h *account, v int64) {
			h.notify(0, w, v)
			h.end()
			h.launch()
			h.loadScalar(1, 0)
		}},
	} {
		for _, v := range []int64{1, 1<<31 - 1, 1 << 31, 1 << 40} {
			usual, plain, _ := both(race.Options{Order: mem.PutSignal}, func(d *race.Detector) bool {
				h := newAccount(t, d, 3)
				h.line = "kernel.go:1"
				c.program(h, v)
				h.end()
				return true
			})
			if !slices.Equal(usual, plain) {
				t.Errorf("%s of %d:\n%q\nwith all in full:\n%q", c.name, v, usual, plain)
			}
		}
	}
}

// A stretch that many agents read is judged by each of its readers, whoever reads it again and
// whichever part of it is written.
func TestManyReaders(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		ranks := race.ManyReaders + 4
		type step struct{ do, rank, lo, n, word int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4, 5}).Draw(t, "do"), rapid.IntRange(0, ranks-1).Draw(t, "rank"),
				rapid.IntRange(0, 3).Draw(t, "lo") * 16, rapid.IntRange(1, 4).Draw(t, "n") * 16, rapid.IntRange(0, 3).Draw(t, "word"),
			}
		}), 1, 40).Draw(t, "steps")
		usual, plain, _ := both(race.Options{Order: mem.PutSignal, Most: 1000}, func(d *race.Detector) bool {
			h := newAccount(tt, d, ranks)
			h.line = "kernel.go:1"
			for r := range ranks {
				h.read(r, at(0, 0, 64))
			}
			for _, s := range steps {
				m := at(0, int64(s.lo), int64(s.n))
				switch s.do {
				case 0:
					h.read(s.rank, m)
				case 1:
					h.load(s.rank, m)
				case 2:
					h.store(s.rank, m)
				case 3:
					if s.rank != 0 {
						h.putTensor(s.rank, m)
					}
				case 4:
					h.notify(s.rank, wordOf((s.rank+s.word)%ranks, s.word), 1)
				case 5:
					if h.values[wordOf(s.rank, s.word)] > 0 {
						h.wait(s.rank, s.word, tl.GE, 1)
					}
				}
			}
			h.end()
			return true
		})
		if !slices.Equal(usual, plain) {
			t.Fatalf("%v:\n%q\nwith all in full:\n%q", steps, usual, plain)
		}
	})
}

// Words with many different numbers stay in full, and are judged as others are.
func TestManySettlings(t *testing.T) {
	const values = 1<<16 + 100
	usual, plain, _ := both(race.Options{Order: mem.PutSignal}, func(d *race.Detector) bool {
		h := newAccount(t, d, 2)
		h.line = "kernel.go:1"
		for i := range values {
			h.notify(0, wordOf(1, i), int64(i+1))
			h.wait(1, i, tl.GE, int64(i+1))
		}
		if n := d.Settlings(); n > 1<<16 {
			t.Errorf("%d settlings", n)
		}
		h.end()
		return true
	})
	if !slices.Equal(usual, plain) {
		t.Errorf("%q, with words in full %q", usual, plain)
	}
}
