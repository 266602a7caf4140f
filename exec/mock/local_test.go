package mock_test

import (
	"testing"

	"kernbench/check/race"
	"kernbench/kerneltest"
	"kernbench/record/history"
	"kernbench/tl"
)

// long is work on memory of the own PE of more records than are held back.
func long(c *tl.Context, a tl.Args) {
	for range 4000 {
		x := own(c, a)
		c.Store(a.Shard(c.Rank()), c.Add(x, x))
		c.Free(x)
	}
}

// TestPrivateLaunches: what is left out of the account changes no verdict. A launch that shares
// memory at once, or after so long that its account is gone, is judged like any other.
func TestLocalLaunches(t *testing.T) {
	next := func(c *tl.Context, a tl.Args) tl.Ref { return a.Shard((c.Rank() + 1) % c.WorldSize()) }
	quiet := func(*tl.Context, tl.Args) {}
	tests := []struct {
		name   string
		what   func(c *tl.Context, a tl.Args)
		onRecv bool
		hazard bool
		class  race.Class
	}{
		{"ring", func(c *tl.Context, a tl.Args) {
			c.Send(tl.East, own(c, a))
			c.Store(a.Shard(c.Rank()), like(c, tl.West, own(c, a)))
		}, false, false, race.Directed},
		{"load of another's", func(c *tl.Context, a tl.Args) {
			c.Store(a.Shard(c.Rank()), own(c, a))
			c.Free(c.Load(next(c, a)))
		}, false, true, race.Scheduled},
		{"store to another's", func(c *tl.Context, a tl.Args) { c.Store(next(c, a), own(c, a)) }, false, true, race.Scheduled},
		{"send of another's", func(c *tl.Context, a tl.Args) {
			c.Store(a.Shard(c.Rank()), own(c, a))
			c.SendRef(tl.East, next(c, a))
			like(c, tl.West, own(c, a))
		}, false, true, race.Scheduled},
		{"receive into another's", func(c *tl.Context, a tl.Args) {
			c.Send(tl.East, own(c, a))
			c.RecvTo(tl.West, next(c, a))
		}, false, true, race.Scheduled},
		{"composite on another's", func(c *tl.Context, a tl.Args) {
			c.Await(c.Composite(tl.Composite{A: next(c, a), Out: a.Shard(c.Rank())}))
		}, false, true, race.Scheduled},
		{"composite to another's", func(c *tl.Context, a tl.Args) {
			c.Await(c.Composite(tl.Composite{A: a.Shard(c.Rank()), Out: next(c, a)}))
		}, false, true, race.Scheduled},
		{"product with another's", func(c *tl.Context, a tl.Args) {
			one := func(r tl.Ref) tl.Ref { return c.Ref(r.Addr, tl.Dims(1, 1), r.DType) }
			mine := one(a.Shard(c.Rank()))
			c.Await(c.Composite(tl.Composite{A: mine, B: one(next(c, a)), Out: mine}))
		}, false, true, race.Scheduled},
		{"receive of any", func(c *tl.Context, a tl.Args) {
			x := own(c, a)
			c.Send(tl.East, x)
			c.RecvAny(x.Shape(), x.DType())
		}, false, false, race.Scheduled},
		{"slot after its credit", func(c *tl.Context, a tl.Args) {
			for range 2 {
				c.Send(tl.East, own(c, a))
				x := like(c, tl.West, own(c, a))
				c.Add(x, x)
			}
		}, true, true, race.Scheduled},
	}
	for _, test := range tests {
		for when, before := range map[string]tl.Kernel{"at once": quiet, "late": long} {
			t.Run(test.name+"/"+when, func(t *testing.T) {
				_, rep, err := kerneltest.Races(func(c *tl.Context, a tl.Args) {
					before(c, a)
					test.what(c, a)
				}, kerneltest.Config{Inputs: vectors(3, 2), OnRecv: test.onRecv, Slots: 1})
				if err != nil {
					t.Fatal(err)
				}
				if (rep.Total > 0) != test.hazard || rep.Class != test.class || rep.Again {
					t.Errorf("%v (again: %v), want hazards: %v, class %v", rep, rep.Again, test.hazard, test.class)
				}
			})
		}
	}
}

// TestPrivateLaunchesAreLeftOut: a judge that wants no more than it needs gets none of them.
func TestLocalLaunchesAreLeftOut(t *testing.T) {
	for when, k := range map[string]tl.Kernel{"short": func(c *tl.Context, a tl.Args) { own(c, a) }, "long": long} {
		for _, brief := range []bool{false, true} {
			records := 0
			log := history.New(func(recs []history.Record) { records += len(recs) })
			log.Brief = brief
			if _, err := kerneltest.Try(k, kerneltest.Config{Inputs: vectors(2, 1), History: log}); err != nil {
				t.Fatal(err)
			}
			if log.Flush(); records > 0 == brief || log.WasLeftOut() {
				t.Errorf("%s, brief=%v: %d records", when, brief, records)
			}
		}
	}
}
