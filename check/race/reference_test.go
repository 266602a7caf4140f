package race_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/check/race"
	_ "kernbench/internal/fixedseed"
	"kernbench/mem"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// mostTinyOps is the most operations of a rank: all schedules of three ranks must be tried.
const mostTinyOps = 4

// drawTiny draws a program. Without sets all waits are for >=.
func drawTiny(t *rapid.T, sets bool) *tiny {
	p := &tiny{order: rapid.SampledFrom([]mem.Ordering{mem.PutSignal, mem.PutSignal, mem.ByChannel, mem.InOrder,
		mem.Sequential}).Draw(t, "order")}
	kinds := []tinyKind{
		tinyLoad, tinyRead, tinyStore, tinyPut, tinyPutNBI, tinyPutSignal, tinyPutSignal, tinyNotify, tinyNotify, tinyGet, tinyGetNBI,
		tinyWait, tinyWait, tinyWait, tinyFence, tinyQuiet, tinyDrain,
	}
	if sets {
		kinds = append(kinds, tinySet, tinySet, tinySet)
	}
	ranks := rapid.IntRange(2, 3).Draw(t, "ranks")
	shared := rapid.IntRange(0, 3).Draw(t, "shared") == 0
	for r := range ranks {
		if p.home = append(p.home, r); shared && r == 1 {
			p.home[1] = 0
		}
		p.first = append(p.first, len(p.ops))
		for range rapid.IntRange(1, mostTinyOps).Draw(t, "ops") {
			o := tinyOp{
				do: rapid.SampledFrom(kinds).Draw(t, "do"), rank: r,
				peer: rapid.IntRange(0, ranks-1).Draw(t, "peer"), cell: rapid.IntRange(0, 1).Draw(t, "cell"), src: 0,
				v: 1, cmp: tl.GE,
			}
			if o.do == tinyWait || o.do == tinyNotify {
				o.v = int64(rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "v"))
			}
			if sets && o.do == tinyWait {
				o.cmp = rapid.SampledFrom([]tl.Cmp{tl.EQ, tl.GE, tl.NE}).Draw(t, "cmp")
			}
			if sets && o.do == tinySet {
				o.v = int64(rapid.IntRange(0, 2).Draw(t, "v"))
			}
			if o.do == tinyWait {
				o.peer = p.home[r]
			}
			if (o.puts() || o.gets()) && o.peer == p.home[r] {
				o.peer = (o.peer + 1) % ranks
			}
			if o.puts() || o.gets() {
				o.src = rapid.IntRange(0, 1).Draw(t, "src")
			}
			p.ops = append(p.ops, o)
		}
	}
	return p
}

// judgeTiny judges schedules of a program, chosen by seed; ok is false if it does not end.
func judgeTiny(p *tiny, seed uint64) (r *race.Report, ok bool) {
	for d, pass := race.New(race.Options{Order: p.order, Most: 1000}), 0; ; d, pass = d.Next(), pass+1 {
		if !p.account(d.Log(), rand.New(rand.NewPCG(seed, 1))) {
			return nil, false
		}
		if r := d.Report(); !r.Again {
			return r, true
		}
	}
}

// Over all schedules of small programs: every hazard that the judge reports from one of them can
// happen. If a hazard can happen, the judge reports one, from any schedule.
func TestAgainstAllSchedules(t *testing.T) {
	judged, racy, clean := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawTiny(t, false)
		all := p.explore(30_000)
		if all.large || all.hangs {
			t.Skip("too many schedules, or not a program that ends")
		}
		judged++
		if len(all.pairs) > 0 {
			racy++
		} else {
			clean++
		}
		for seed := range uint64(4) {
			rep, ok := judgeTiny(p, seed)
			if !ok {
				t.Fatal("hangs in one schedule, but not in others")
			}
			checkTiny(t, p, all, rep)
		}
	})
	t.Logf("%d programs judged, %d with races, %d without", judged, racy, clean)
	if racy == 0 || clean == 0 {
		t.Error("the programs say too little")
	}
}

func checkTiny(t *rapid.T, p *tiny, all outcome, rep *race.Report) {
	t.Helper()
	found, uncertain := false, false
	for _, h := range rep.Hazards {
		// Where a value may be lost or missed, what follows from a wait is anyone's guess.
		uncertain = uncertain || h.Kind != race.Race
	}
	for _, h := range rep.Hazards {
		if h.Kind != race.Race || uncertain {
			continue
		}
		found = true
		var x pair
		fmt.Sscan(h.First.Line, &x[0])
		fmt.Sscan(h.Second.Line, &x[1])
		slices.Sort(x[:])
		if !all.pairs[x] {
			t.Fatalf("reported, but no schedule has it:\n%v\n%v", &h, p)
		}
	}
	if len(all.pairs) > 0 && !found && !uncertain {
		t.Fatalf("not reported: %v\n%v", all.pairs, p)
	}
}

// With words that are set, and waits for any value: a program that is not reported has no race and
// no hang in any schedule. Every reported hazard can happen.
func TestAgainstAllSchedulesWithSets(t *testing.T) {
	quiet, reported := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawTiny(t, true)
		all := p.explore(30_000)
		if all.large {
			t.Skip("too many schedules")
		}
		for seed := range uint64(4) {
			rep, ok := judgeTiny(p, seed)
			if !ok {
				continue // this schedule hangs, and the executor reports it
			}
			if rep.Total > 0 {
				reported++
			} else {
				quiet++
			}
			if all.hangs && rep.Total == 0 {
				t.Fatalf("not reported, but some schedule hangs:\n%v", p)
			}
			checkTiny(t, p, all, rep)
		}
	})
	t.Logf("%d reports, %d without", reported, quiet)
}
