package race_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// locked holds what a kernel of these tests has at hand: words of rank 0, a block of data there.
type locked struct {
	*tl.Context
	data  tl.Sym
	words tl.Signal
	out   tl.Ref
	team  *mem.Team
	ranks int
}

func (c *locked) cas(w int, old, v int64) int64 { return c.CompareSwap(c.words.At(w), 0, old, v) }
func (c *locked) add(w int, v int64) int64      { return c.FetchAdd(c.words.At(w), 0, v) }
func (c *locked) set(w int, v int64)            { c.Notify(c.words.At(w), 0, tl.SignalSet, v) }
func (c *locked) notify(w int, v int64)         { c.Notify(c.words.At(w), 0, tl.SignalAdd, v) }
func (c *locked) lock()                         { c.casLock(1) }
func (c *locked) unlock()                       { c.cas(0, 1, 0) }
func (c *locked) block() tl.Ref                 { return c.At(c.data, 0) }
func (c *locked) read() tl.Tensor               { return c.Load(c.block()) }
func (c *locked) casLock(v int64) {
	for c.cas(0, 0, v) != 0 {
	}
}

// grow adds 1 to the data, which only one may do at a time.
func (c *locked) grow() { c.Store(c.block(), c.Add(c.read(), c.Full(tl.Dims(4), dtype.F32, 1))) }

// keep stores what the data are in the shard.
func (c *locked) keep() { c.Store(c.out, c.read()) }

func lockProgram(body func(c *locked)) (tl.Kernel, func(ranks int, seed uint64) kerneltest.Config) {
	layout, err := mem.NewLayout(0, []mem.Buffer{{Name: "w", Parts: []mem.Part{
		mem.DataPart("data", dtype.F32, 4), mem.SignalPart("words", mem.Int32, 8),
	}}})
	if err != nil {
		panic(err)
	}
	k := func(c *tl.Context, a tl.Args) {
		w := a.Window(0)
		body(&locked{c, c.Data(w, "w.data"), c.Signals(w, "w.words"), a.Shard(c.Rank()), w.Team, c.WorldSize()})
	}
	return k, func(ranks int, seed uint64) kerneltest.Config {
		cfg := kerneltest.Config{World: ranks, DType: dtype.F32, Layout: layout, Seed: seed}
		for range ranks {
			cfg.Inputs = append(cfg.Inputs, make([]float64, 4))
		}
		return cfg
	}
}

func TestLocks(t *testing.T) {
	const big = 1 << 10
	for _, c := range []struct {
		name string
		want string // clean; always or in some schedules reported
		body func(c *locked)
	}{
		{"compare-swap, one section", "clean", func(c *locked) { c.lock(); c.grow(); c.Quiet(); c.unlock() }},
		{"compare-swap, three sections", "clean", func(c *locked) {
			for range 3 {
				c.lock()
				c.grow()
				c.Quiet()
				c.unlock()
			}
		}},
		{"compare-swap, put", "clean", func(c *locked) {
			c.lock()
			c.PutTensor(c.data, 0, c.Full(tl.Dims(4), dtype.F32, 1))
			c.Quiet()
			c.unlock()
		}},
		{"compare-swap by the owner's number", "clean", func(c *locked) {
			for range 2 {
				me := int64(c.Rank() + 1)
				c.casLock(me)
				c.grow()
				c.Quiet()
				c.cas(0, me, 0)
			}
		}},
		{"compare-swap, all read after a barrier", "clean", func(c *locked) {
			c.lock()
			c.grow()
			c.Quiet()
			c.unlock()
			c.Barrier(c.team)
			c.keep()
		}},
		{"released by set", "clean", func(c *locked) {
			for range 2 {
				c.lock()
				c.grow()
				c.Quiet()
				c.set(0, 0)
			}
		}},
		{"released by a notification", "clean", func(c *locked) {
			for range 2 {
				c.lock()
				c.grow()
				c.Quiet()
				c.notify(0, -1)
			}
		}},
		{"taken by fetch-add, given back when it was taken", "clean", func(c *locked) {
			for c.add(0, 1) != 0 {
				c.add(0, -1)
			}
			c.grow()
			c.Quiet()
			c.add(0, -1)
		}},
		{"tickets", "clean", func(c *locked) {
			for range 2 {
				mine := c.add(0, 1)
				for c.add(1, 0) != mine {
				}
				c.grow()
				c.Quiet()
				c.add(1, 1)
			}
		}},
		{"tickets, announced by a notification", "clean", func(c *locked) {
			mine := c.add(0, 1)
			for c.add(1, 0) != mine {
			}
			c.grow()
			c.Quiet()
			c.notify(1, 1)
		}},
		{"last arriver", "clean", func(c *locked) {
			c.Store(c.At(c.data.Slice(c.Rank(), 1), 0), c.Full(tl.Dims(1), dtype.F32, 1))
			c.Quiet()
			if c.add(0, 1) == int64(c.ranks-1) {
				c.keep()
			}
		}},
		{"last arriver that resets the counter and lets the others go on, twice", "clean", func(c *locked) {
			n := int64(c.ranks)
			for round := range int64(2) {
				c.Store(c.At(c.data.Slice(c.Rank()%4, 1), 0), c.Full(tl.Dims(1), dtype.F32, 1))
				c.Quiet()
				if c.add(0, 1) == n-1 {
					c.add(0, -n)
					c.keep()
					c.PipeBarrier()
					for r := range c.ranks {
						c.Notify(c.words.At(2), r, tl.SignalAdd, 1)
					}
				}
				c.WaitUntil(c.words.At(2), tl.GE, round+1)
			}
		}},
		{"readers and a writer", "clean", func(c *locked) {
			for range 2 {
				if c.Rank() == 0 {
					for c.cas(0, 0, big) != 0 {
					}
					c.grow()
					c.Quiet()
					c.add(0, -big)
					continue
				}
				for c.add(0, 1) >= big {
					c.add(0, -1)
				}
				c.keep()
				c.PipeBarrier()
				c.add(0, -1)
			}
		}},
		{"two locks, one in the other", "clean", func(c *locked) {
			c.lock()
			for c.cas(1, 0, 1) != 0 {
			}
			c.grow()
			c.Quiet()
			c.cas(1, 1, 0)
			c.unlock()
		}},

		{"spoiled: no quiet", "always", func(c *locked) { c.lock(); c.grow(); c.unlock() }},
		{"spoiled: put, no quiet, set", "always", func(c *locked) { c.lock(); c.PutTensor(c.data, 0, c.read()); c.set(1, 0); c.unlock() }},
		{"spoiled: one does not take it", "always", func(c *locked) {
			if c.Rank() == 1 {
				c.grow()
				return
			}
			c.lock()
			c.grow()
			c.Quiet()
			c.unlock()
		}},
		{"spoiled: one writes before it takes it", "always", func(c *locked) {
			if c.Rank() == 1 {
				c.grow()
				c.Quiet()
			}
			c.lock()
			c.grow()
			c.Quiet()
			c.unlock()
		}},
		{"spoiled: one writes when it has given it back", "always", func(c *locked) {
			c.lock()
			c.grow()
			c.Quiet()
			c.unlock()
			if c.Rank() == 1 {
				c.grow()
			}
		}},
		{"spoiled: one gives back what it has not", "always", func(c *locked) {
			if c.Rank() == 0 {
				c.set(0, 0)
			}
			c.lock()
			c.grow()
			c.Quiet()
			c.unlock()
		}},
		{"spoiled: given back twice", "sometimes", func(c *locked) {
			for c.add(0, 1) > 0 {
				c.add(0, -1)
			}
			c.grow()
			c.Quiet()
			c.add(0, -1)
			if c.Rank() == 0 {
				c.add(0, -1)
			}
		}},
		{"spoiled: two locks", "always", func(c *locked) {
			w := c.Rank() % 2
			for c.cas(w, 0, 1) != 0 {
			}
			c.grow()
			c.Quiet()
			c.cas(w, 1, 0)
		}},
		{"spoiled: two at a time", "sometimes", func(c *locked) {
			for c.add(0, 1) > 1 {
				c.add(0, -1)
			}
			c.grow()
			c.Quiet()
			c.add(0, -1)
		}},
		{"spoiled: tickets without quiet", "always", func(c *locked) {
			mine := c.add(0, 1)
			for c.add(1, 0) != mine {
			}
			c.grow()
			c.add(1, 1)
		}},
		{"spoiled: readers that write", "sometimes", func(c *locked) {
			for c.add(0, 1) >= big {
				c.add(0, -1)
			}
			c.grow()
			c.Quiet()
			c.add(0, -1)
		}},
		{"spoiled: last arriver that does not look", "sometimes", func(c *locked) {
			c.Store(c.At(c.data.Slice(c.Rank(), 1), 0), c.Full(tl.Dims(1), dtype.F32, 1))
			c.Quiet()
			if c.add(0, 1); c.Rank() == 1 {
				c.keep()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, cfg := lockProgram(c.body)
			reported, runs := 0, 0
			var last *race.Report
			for _, ranks := range []int{3, 4} {
				for seed := range uint64(6) {
					_, rep, err := kerneltest.Races(k, cfg(ranks, seed))
					if err != nil {
						t.Fatal(err)
					}
					runs++
					last = rep
					if rep.Total > 0 {
						reported++
					}
					if rep.Unsettled || c.want == "clean" && rep.Total > 0 || c.want == "always" && rep.Total == 0 {
						t.Fatalf("%d ranks, schedule %d: want %s\n%v", ranks, seed, c.want, rep)
					}
				}
			}
			if rep := last; rep.Class == race.Scheduled {
				for i := range rep.Depends {
					if d := &rep.Depends[i]; d.Line == "" || !strings.Contains(rep.String(), d.Line) {
						t.Errorf("a line that makes the class is not named: %+v\n%v", d, rep)
					}
				}
				sections := slices.ContainsFunc(rep.Depends, func(d race.Depend) bool { return d.Op == "section" })
				if guards := strings.Contains(c.name, "swap"); c.want == "clean" && guards && !sections {
					t.Errorf("no section among %v", rep)
				}
			}
			if c.want == "sometimes" && reported == 0 {
				t.Errorf("not reported in %d schedules", runs)
			}
		})
	}
}

// Every method to take a lock works with every method to release it. Without the quiet, or where
// one rank does not take it, some schedule is reported. No schedule of the right program is
// reported.
func TestRandomLocks(t *testing.T) {
	type way struct{ take, give func(c *locked) }
	swap := func(c *locked) { c.lock() }
	ways := []way{
		{swap, func(c *locked) { c.unlock() }},
		{swap, func(c *locked) { c.set(0, 0) }},
		{swap, func(c *locked) { c.notify(0, -1) }},
		{swap, func(c *locked) { c.add(0, -1) }},
		{func(c *locked) {
			for c.add(0, 1) != 0 {
				c.add(0, -1)
			}
		}, func(c *locked) { c.add(0, -1) }},
		{func(c *locked) { c.casLock(int64(c.Rank()) + 1) }, func(c *locked) { c.notify(0, -int64(c.Rank())-1) }},
	}
	bodies := []func(c *locked){
		func(c *locked) { c.grow() },
		func(c *locked) { c.PutTensor(c.data, 0, c.read()) },
		func(c *locked) { c.Store(c.block(), c.Full(tl.Dims(4), dtype.F32, 2)) },
	}
	for i := range uint64(24) {
		rng := rand.New(rand.NewPCG(i, 3))
		w, body := ways[rng.IntN(len(ways))], bodies[rng.IntN(len(bodies))]
		ranks, sections, spoiled, who := 2+rng.IntN(3), 1+rng.IntN(3), rng.IntN(3), rng.IntN(2)
		k, cfg := lockProgram(func(c *locked) {
			for s := range sections {
				last := c.Rank() == who && s == sections-1
				if !last || spoiled != 1 {
					w.take(c)
				}
				body(c)
				if !last || spoiled != 2 {
					c.Quiet()
				}
				if !last || spoiled != 1 {
					w.give(c)
				}
			}
		})
		reported := 0
		for seed := range uint64(6) {
			_, rep, err := kerneltest.Races(k, cfg(ranks, seed))
			if err != nil {
				t.Fatal(err)
			}
			if rep.Total > 0 {
				reported++
			}
			if rep.Unsettled || spoiled == 0 && rep.Total > 0 {
				t.Fatalf("program %d, schedule %d: the program is right\n%v", i, seed, rep)
			}
		}
		if spoiled > 0 && reported == 0 {
			t.Errorf("program %d, spoiled by %d: not reported", i, spoiled)
		}
	}
}
