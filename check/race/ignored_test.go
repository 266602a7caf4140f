package race_test

import (
	"testing"

	"kernbench/check/race"
	"kernbench/record/history"
	"kernbench/tl"
)

// What compare-and-swaps and fetch-adds make of a class, where kernels do not act on what they
// return. The account has one schedule: the rule must see what others would do.
func TestIgnoredAtomics(t *testing.T) {
	w, x := wordOf(0, 0), wordOf(0, 1)
	word := map[history.Word]int64{}
	swap := func(h *account, r int, w history.Word, old, v int64) {
		seen := word[w]
		if seen == old {
			word[w] = v
		}
		h.add(r, "compare_swap", history.Record{Kind: history.RMW, Word: w, Update: tl.SignalSet, Value: v, Seen: seen, Wrote: seen == old})
	}
	fetch := func(h *account, r int, v int64) {
		h.add(r, "fetch_add", history.Record{Kind: history.RMW, Word: w, Update: tl.SignalAdd, Value: v, Seen: word[w], Wrote: true})
		word[w] += v
	}
	for _, c := range []struct {
		name  string
		class race.Class
		run   func(h *account)
	}{
		{"one agent at each value", race.Counting, func(h *account) {
			for range 2 {
				swap(h, 1, w, 0, 1)
				swap(h, 1, w, 0, 1) // fails
				swap(h, 0, w, 1, 0)
			}
		}},
		{"two agents at one value", race.Scheduled, func(h *account) {
			swap(h, 1, w, 0, 1)
			swap(h, 0, w, 1, 0)
			swap(h, 2, w, 0, 1)
			swap(h, 0, w, 1, 0)
		}},
		{"turns by a value that each agent sets itself", race.Counting, func(h *account) {
			for r := range 3 {
				swap(h, r, w, int64(r), -1)
				swap(h, r, w, -1, int64(r)+1)
			}
		}},
		{"a lock", race.Counting, func(h *account) {
			for r := range 3 {
				swap(h, r, w, 0, 1)
				swap(h, r, w, 0, 1) // fails
				swap(h, r, w, 1, 0)
			}
		}},
		{"a lock that another agent gives back", race.Scheduled, func(h *account) {
			swap(h, 0, w, 0, 1)
			swap(h, 1, w, 1, 0)
			swap(h, 1, w, 0, 1)
			swap(h, 0, w, 1, 0)
		}},
		{"a lock that the last agent keeps", race.Scheduled, func(h *account) {
			swap(h, 0, w, 0, 1)
			swap(h, 0, w, 1, 0)
			swap(h, 1, w, 0, 1)
		}},
		{"a wait under a lock", race.Scheduled, func(h *account) {
			h.notify(2, x, 1)
			for r := range 2 {
				swap(h, r, w, 0, 1)
				if r == 0 {
					h.wait(0, 1, tl.GE, 1)
				}
				swap(h, r, w, 1, 0)
			}
		}},
		{"a lock in another one", race.Scheduled, func(h *account) {
			for r := range 2 {
				swap(h, r, w, 0, 1)
				swap(h, r, x, 0, 1)
				swap(h, r, x, 1, 0)
				swap(h, r, w, 1, 0)
			}
		}},
		{"a lock that a notification changes too", race.Scheduled, func(h *account) {
			swap(h, 0, w, 0, 1)
			swap(h, 0, w, 1, 0)
			h.notify(2, w, 1)
		}},
		{"a notification, then a swap", race.Scheduled, func(h *account) {
			h.notify(2, w, 1)
			word[w] = 1
			swap(h, 0, w, 1, 0)
		}},
		{"fetch-adds that grow", race.Counting, func(h *account) {
			for r := range 3 {
				fetch(h, r, 1)
			}
			h.values[w] = 3
			h.wait(0, 0, tl.GE, 3)
		}},
		{"fetch-adds that shrink", race.Scheduled, func(h *account) {
			fetch(h, 0, 1)
			fetch(h, 1, -1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clear(word)
			for _, ignored := range []bool{true, false} {
				d := race.New(race.Options{Ignored: ignored})
				h := newAccount(t, d, 3)
				clear(word)
				c.run(h)
				h.end()
				rep := d.Report()
				want := c.class
				if !ignored {
					want = race.Scheduled
				}
				if rep.Class != want || rep.Total > 0 {
					t.Errorf("ignored %v: want %v\n%v", ignored, want, rep)
				}
				if !ignored && c.class == race.Counting && !rep.OnlyAtomics {
					t.Errorf("not only atomics: %v", rep)
				}
			}
		})
	}
}

// A fetch-add that is ignored tells its agent nothing: what it would tell hides a race.
func TestIgnoredFetchAddTeachesNothing(t *testing.T) {
	for _, ignored := range []bool{true, false} {
		d := race.New(race.Options{Ignored: ignored})
		h := newAccount(t, d, 2)
		h.putTensor(0, at(0, 0, 64))
		h.quiet(0)
		h.add(0, "fetch_add", history.Record{Kind: history.RMW, Word: wordOf(0, 0), Update: tl.SignalAdd, Value: 1, Seen: 0, Wrote: true})
		h.add(1, "fetch_add", history.Record{Kind: history.RMW, Word: wordOf(0, 0), Update: tl.SignalAdd, Value: 1, Seen: 1, Wrote: true})
		h.read(1, at(0, 0, 64))
		h.end()
		if rep := d.Report(); (rep.Total > 0) != ignored {
			t.Errorf("ignored %v: %v", ignored, rep)
		}
	}
}
