package race_test

import (
	"maps"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// Words of rank 0 that the others count in, and a flag: what a receiver of tokens reads.
func TestWordsThatAreRead(t *testing.T) {
	send := func(order func(c *locked)) func(c *locked) {
		return func(c *locked) {
			c.notify(0, int64(c.Rank()+1))
			order(c)
			c.notify(1, 1)
		}
	}
	flag := func(c *locked) int64 {
		c.WaitUntil(c.words.At(1), tl.GE, int64(c.ranks-1))
		return c.LoadScalar(c.words.At(0))
	}
	fence := func(c *locked) { c.Fence() }
	nothing := func(*locked) {}
	for _, x := range []struct {
		name  string
		clean bool
		class race.Class
		send  func(c *locked)
		read  func(c *locked) int64
	}{
		{"fence", true, race.Counting, send(fence), flag},
		{"quiet", true, race.Counting, send(func(c *locked) { c.Quiet() }), flag},
		{"no fence", false, race.Scheduled, send(nothing), flag},
		{"no wait", false, race.Scheduled, send(fence), func(c *locked) int64 { return c.LoadScalar(c.words.At(0)) }},
		{"peek", true, race.Scheduled, send(nothing), func(c *locked) (n int64) {
			for all := int64(c.ranks*(c.ranks+1)/2 - 1); n < all; {
				n = c.Peek(c.words.At(0))
			}
			return n
		}},
		{"fetch_add, fence", true, race.Scheduled, func(c *locked) { c.add(0, int64(c.Rank()+1)); c.Fence(); c.add(1, 1) }, flag},
		{"fetch_add", true, race.Scheduled, func(c *locked) { c.add(0, int64(c.Rank()+1)); c.add(1, 1) }, flag}, // complete when it answers
		{"set, no fence", false, race.Scheduled, func(c *locked) {
			if c.Rank() == 1 {
				c.set(0, 5)
			}
			c.notify(1, 1)
		}, flag},
	} {
		t.Run(x.name, func(t *testing.T) {
			k, cfg := lockProgram(func(c *locked) {
				if c.Rank() > 0 {
					x.send(c)
					return
				}
				c.Store(c.out, c.Full(tl.Dims(4), dtype.F32, float64(x.read(c))))
			})
			classes := map[race.Class]bool{}
			for seed := range uint64(12) {
				_, rep, err := kerneltest.Races(k, cfg(3, seed))
				if err != nil {
					t.Fatal(err)
				}
				if clean := rep.Total == 0 && !rep.Unsettled; clean != x.clean {
					t.Fatalf("schedule %d: clean %v\n%v", seed, clean, rep)
				}
				classes[rep.Class] = true
			}
			if worst := slices.Max(slices.Collect(maps.Keys(classes))); worst != x.class {
				t.Errorf("class %v, want %v", worst, x.class)
			}
		})
	}
}
