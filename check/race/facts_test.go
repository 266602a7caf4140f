package race_test

import (
	"testing"

	"kernbench/check/race"
	"kernbench/tl"
)

// A program that has a new later notification in each pass does not settle, and the judge ends its
// search.
func TestPassesAreBounded(t *testing.T) {
	const most = 16
	for d, passes := race.New(race.Options{Repeats: true}), 1; ; d, passes = d.Next(), passes+1 {
		h := newAccount(t, d, 3)
		h.notify(0, wordOf(1, passes), 1)
		h.wait(1, passes, tl.GE, 1)
		h.notify(2, wordOf(1, passes), 1)
		h.end()
		r := d.Report()
		if r.Again && passes < most {
			continue
		}
		if r.Again || !r.Unsettled || passes != most {
			t.Errorf("after %d passes: again %v, unsettled %v", passes, r.Again, r.Unsettled)
		}
		return
	}
}
