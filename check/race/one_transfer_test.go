package race_test

import (
	"slices"
	"testing"

	"kernbench/mem"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// drawTransfer draws a program with two accesses of a cell by two ranks. The first rank signals the
// other one, itself or through other ranks. Other signals may end the same waits, so that some
// programs have a race.
func drawTransfer(t *rapid.T) *tiny {
	p := &tiny{order: rapid.SampledFrom([]mem.Ordering{mem.PutSignal, mem.ByChannel, mem.InOrder, mem.Sequential}).Draw(t, "order")}
	ranks := rapid.IntRange(3, 4).Draw(t, "ranks")
	path := rapid.Permutation([]int{0, 1, 2, 3}[:ranks]).Draw(t, "path")[:rapid.IntRange(2, ranks).Draw(t, "hops")]
	first, last := path[0], path[len(path)-1]
	home := rapid.SampledFrom([]int{last, last, first, rapid.IntRange(0, ranks-1).Draw(t, "any")}).Draw(t, "home")
	ops := make([][]tinyOp, ranks)
	sent := map[[2]int]int64{} // by word
	access := func(r int) tinyOp {
		kinds := []tinyKind{tinyPut, tinyPutNBI, tinyPutSignal, tinyPutSignal, tinyGet, tinyGetNBI}
		if r == home {
			kinds = []tinyKind{tinyLoad, tinyRead, tinyRead, tinyStore}
		}
		return tinyOp{do: rapid.SampledFrom(kinds).Draw(t, "access"), rank: r, peer: home, src: 1, v: 1}
	}
	notify := func(r, to, word int) tinyOp {
		sent[[2]int{to, word}]++
		return tinyOp{do: tinyNotify, rank: r, peer: to, cell: word, v: 1}
	}
	word := func() int { return rapid.IntRange(0, 1).Draw(t, "word") }
	wait := func(r, word int) tinyOp {
		return tinyOp{do: tinyWait, rank: r, peer: r, cell: word, v: int64(rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "v")), cmp: tl.GE}
	}

	a := access(first)
	ops[first] = append(ops[first], a)
	if a.do == tinyPutSignal {
		sent[[2]int{home, 0}]++
		if rapid.Bool().Draw(t, "awaited") {
			ops[home] = append(ops[home], wait(home, 0))
		}
	}
	if k := rapid.SampledFrom([]tinyKind{tinyNotify, tinyFence, tinyQuiet, tinyDrain}).Draw(t, "then"); k != tinyNotify {
		ops[first] = append(ops[first], tinyOp{do: k, rank: first, peer: home})
	}
	for i, r := range path[1:] {
		w := word()
		ops[path[i]] = append(ops[path[i]], notify(path[i], r, w))
		ops[r] = append(ops[r], wait(r, w))
	}
	b := access(last)
	if b.do == tinyPutSignal {
		sent[[2]int{home, 0}]++
	}
	for range rapid.IntRange(0, 3).Draw(t, "others") {
		r := rapid.IntRange(0, ranks-1).Draw(t, "rank")
		place := rapid.IntRange(0, len(ops[r])).Draw(t, "place")
		o := wait(r, word())
		if rapid.IntRange(0, 3).Draw(t, "what") > 0 {
			o = notify(r, rapid.IntRange(0, ranks-1).Draw(t, "peer"), word())
		}
		ops[r] = slices.Insert(ops[r], place, o)
	}
	ops[last] = append(ops[last], b)

	for r := range ranks {
		p.home = append(p.home, r)
		p.first = append(p.first, len(p.ops))
		for _, o := range ops[r] {
			if o.do == tinyWait { // most waits for more never end
				if o.v = min(o.v, sent[[2]int{r, o.cell}]); o.v == 0 {
					continue
				}
			}
			p.ops = append(p.ops, o)
		}
	}
	return p
}

// Over all schedules of programs with two accesses and many signals: a race that can happen is
// reported. So are few programs without one: those in which the judge does not see that a signal
// comes after the wait that it might end.
func TestOneTransfer(t *testing.T) {
	judged, racy, alarms := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawTransfer(t)
		all := p.explore(20_000)
		if all.large || all.hangs {
			t.Skip("too many schedules, or not a program that ends")
		}
		judged++
		if len(all.pairs) > 0 {
			racy++
		}
		alarm := false
		for seed := range uint64(3) {
			rep, ok := judgeTiny(p, seed)
			if !ok {
				t.Fatal("hangs in one schedule, but not in others")
			}
			if len(all.pairs) > 0 && rep.Total == 0 {
				t.Fatalf("not reported: %v\n%v", all.pairs, p)
			}
			alarm = alarm || len(all.pairs) == 0 && rep.Total > 0
		}
		if alarm {
			alarms++
		}
	})
	t.Logf("%d programs judged, %d with races, %d others reported", judged, racy, alarms)
	if racy == 0 || racy == judged || alarms*200 > judged {
		t.Errorf("of %d programs %d have races, and %d others are reported", judged, racy, alarms)
	}
}
