package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
	"kernbench/record/cause"
	"kernbench/record/oplog"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

// accounts returns why a log does not account for all of the time of its runs, or "".
func accounts(log *cause.Log) string {
	for i := range log.Runs() {
		if err := log.Check(&log.Runs()[i]); err != nil {
			return err.Error()
		}
	}
	return ""
}

// chains holds the causes that lead to the end of each rank and of each run. Paths have their links
// instead of numbers.
func chains(log *cause.Log) (all []*cause.Chain, links [][]int) {
	for _, v := range log.Runs() {
		for _, p := range append([]cause.Point{v.Last}, v.Ends...) {
			if p == 0 {
				continue
			}
			c := log.Walk(p)
			for i := range c.Spans {
				if s := &c.Spans[i]; s.At.Kind() == cause.Path {
					links = append(links, log.Links(s.At))
					s.At = 0
				}
			}
			all = append(all, c)
		}
	}
	return all, links
}

// sameChains returns how the chains of two logs differ, or "".
func sameChains(a, b *cause.Log) string {
	chainsA, linksA := chains(a)
	chainsB, linksB := chains(b)
	return cmp.Diff(chainsA, chainsB) + cmp.Diff(linksA, linksB)
}

// TestCausesOfPrograms: causes account for each picosecond of random programs, and change nothing.
func TestCausesOfPrograms(t *testing.T) {
	kinds := map[string]func(*rand.Rand) *program{
		"matched": matched, "touching": touching,
		"any":            func(d *rand.Rand) *program { return anyProgram(d, false) },
		"any, one-sided": func(d *rand.Rand) *program { return anyProgram(d, true) },
	}
	runs := 0
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(12) {
				p := kind(rand.New(rand.NewPCG(seed, 1)))
				for i, f := range []noc.Fidelity{noc.Slot, noc.Ideal, noc.Flit} {
					if !exhaustive.On() && (int(seed)+i)%3 == 0 {
						continue
					}
					plain, err := p.onSim(f, false, 0)
					if err != nil {
						t.Fatal(err)
					}
					log := cause.New()
					got, err := p.onSimWith(sim.Options{Fidelity: f, Causes: log, Yield: seed%2 == 1, RecordLines: true})
					if err != nil {
						t.Fatal(err)
					}
					if what := diffRuns(plain, got); what != "" {
						t.Fatalf("seed %d, %v: causes change the run: %s", seed, f, what)
					}
					if what := accounts(log); what != "" {
						t.Fatalf("seed %d, %v: %s\n%+v", seed, f, what, p)
					}
					runs += len(log.Runs())
					some := cause.NewPruned(1)
					if _, err := p.onSimWith(sim.Options{Fidelity: f, Causes: some, Yield: seed%2 == 1, RecordLines: true}); err != nil {
						t.Fatal(err)
					}
					if d := sameChains(log, some); d != "" {
						t.Fatalf("seed %d, %v: a pruned log has other chains: %s", seed, f, d)
					}
				}
			}
		})
	}
	if runs < 50 {
		t.Errorf("only %d programs came to their end", runs)
	}
}

// TestCausesOfStreams: the same for streams, programs and tasks.
func TestCausesOfStreams(t *testing.T) {
	seeds, runs := 60, 0
	if !exhaustive.On() {
		seeds = 30
	}
	for seed := range uint64(seeds) {
		q := anyQueue(rand.New(rand.NewPCG(seed, 1)))
		plain, err := q.onSim(noc.Slot, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		log := cause.New()
		got, err := q.on(func(l *oplog.Log, o *leftover) streamExecutor {
			return q.sim(sim.Options{Data: l, Trace: &o.trace, Causes: log})
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(plain.trace, got.trace); d != "" {
			t.Fatalf("seed %d: causes change the run: %s", seed, d)
		}
		if what := accounts(log); what != "" {
			t.Fatalf("seed %d: %s\n%+v", seed, what, fmt.Sprint(q))
		}
		some := cause.NewPruned(1)
		if _, err := q.on(func(l *oplog.Log, o *leftover) streamExecutor {
			return q.sim(sim.Options{Data: l, Trace: &o.trace, Causes: some})
		}); err != nil {
			t.Fatal(err)
		}
		if d := sameChains(log, some); d != "" {
			t.Fatalf("seed %d: a pruned log has other chains: %s", seed, d)
		}
		runs += len(log.Runs())
	}
	if runs < seeds/4 {
		t.Errorf("only %d programs came to their end", runs)
	}
}

// TestCausesOfFences: the same for a rank that waits for an acknowledgement. In some rounds it has
// been sent before, while the rank waited for something else.
func TestCausesOfFences(t *testing.T) {
	const ranks, n, rounds = 4, 600, 30
	works := func(c *tl.Context, n int) {
		c.Full(tl.Dims(n), dtype.F16, 0)
		c.PipeBarrier()
	}
	kernel := func(c *tl.Context, a tl.Args) {
		d, s := c.Data(a.Window(0), "data"), c.Signals(a.Window(0), "sig")
		for i := range rounds {
			switch c.Rank() {
			case 0:
				works(c, 300000)
				c.PutTensor(d, 1, c.Full(tl.Dims(n), dtype.F16, 1))
				c.WaitUntil(s.At(0), tl.GE, int64(i+1))
				c.Fence()
				c.Notify(s.At(0), 1, tl.SignalAdd, 1)
				c.Quiet()
				c.Notify(s.At(0), 2, tl.SignalAdd, 1)
			case 2:
				works(c, 2000*i)
				c.Notify(s.At(0), 0, tl.SignalAdd, 1)
				c.WaitUntil(s.At(0), tl.GE, int64(i+1))
			}
		}
	}
	for _, order := range everyOrder {
		for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
			b := newWindows(t, kernel, setup{world: ranks, n: n, sets: []string{"cube.noc.router_ns=500",
				"fabric.memory_order=" + order.String()}}, data(n), words(1))
			whole, some := cause.New(), cause.NewPruned(1)
			for _, log := range []*cause.Log{whole, some} {
				b.renew()
				b.took(t, sim.Options{Fidelity: f, Causes: log, RecordLines: true})
				if what := accounts(log); what != "" {
					t.Fatalf("%v, %v: %s", order, f, what)
				}
			}
			if d := sameChains(whole, some); d != "" {
				t.Errorf("%v, %v: a pruned log has other chains: %s", order, f, d)
			}
		}
	}
}
