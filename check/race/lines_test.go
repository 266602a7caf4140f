package race_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/check/race"

	"pgregory.net/rapid"
)

// An executor that may leave lines out gets the same report as one that records them all.
func TestLeftOutLines(t *testing.T) {
	repeated := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawTiny(t, true)
		seed := rapid.Uint64().Draw(t, "seed")
		judge := func(repeats bool) (all []string, passes int) {
			d := race.New(race.Options{Order: p.order, Most: 1000, Repeats: repeats})
			for passes = 1; ; passes++ {
				if !p.account(d.Log(), rand.New(rand.NewPCG(seed, 1))) {
					t.Skip("does not end")
				}
				r := d.Report()
				if !r.Again {
					return reported(r), passes
				}
				d = d.Next()
			}
		}
		want, passes := judge(false)
		got, more := judge(true)
		if !slices.Equal(got, want) {
			t.Fatalf("with lines left out: %q\nwith all lines: %q", got, want)
		}
		if more > passes {
			repeated++
		}
	})
	if repeated == 0 {
		t.Error("no program needed its lines")
	}
}
