package cause

import (
	"math/rand/v2"
	"testing"

	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// journey writes points of some actors that wait for each other, and lets the log be pruned now and
// then. It returns the points at which the actors are, and those of a run in between.
func journey(l *Log, seed uint64) []Point {
	const actors = 6
	draw := rand.New(rand.NewPCG(seed, 1))
	at, ends := make([]Point, actors), make([]Point, actors)
	for i := range at {
		at[i] = l.Start(0, l.AddSite(Operation{Rank: int32(i)}))
	}
	for step := range 2000 {
		i, j := draw.IntN(actors), draw.IntN(actors)
		now := l.Time(at[i])
		switch other := l.Time(at[j]); {
		case other > now && draw.IntN(2) == 0:
			start, served := l.Serve(now, at[j], other+unit.Time(draw.IntN(9)), l.Owner(at[i]), draw.IntN(4), draw.IntN(2) == 0)
			if at[i] = served; draw.IntN(4) == 0 { // the chain of the head goes on, or that of the last byte
				at[i] = start
			}
		case other > now:
			at[i] = l.Wait(now, at[j], l.Owner(at[i]), Queueing, At(Link, draw.IntN(4)))
		case draw.IntN(3) == 0:
			p := uint32(0)
			for range 1 + draw.IntN(3) {
				p = l.Extend(p, draw.IntN(4))
			}
			at[i] = l.Add(now+1+unit.Time(draw.IntN(9)), at[i], Latency, At(Path, int(p)))
		default:
			at[i] = l.Add(now+1+unit.Time(draw.IntN(9)), at[i], Issue, At(CPU, i))
		}
		if step == 1000 {
			copy(ends, at)
			l.AddRun(Run{Last: at[0], Ends: ends})
		}
		if l.Due() {
			l.Prune(func(k *Keep) {
				for _, p := range at {
					k.Point(p)
				}
			})
		}
	}
	return append(at, ends...)
}

// chains are what leads to some points, with the links of paths in place of their numbers.
func chains(l *Log, points []Point) (all []*Chain, links [][]int) {
	for _, p := range points {
		c := l.Walk(p)
		for i := range c.Spans {
			if s := &c.Spans[i]; s.At.Kind() == Path {
				links = append(links, l.Links(s.At))
				s.At = 0
			}
		}
		all = append(all, c)
	}
	return all, links
}

// What a log keeps leads back to the start as if nothing had been forgotten. It keeps little more
// than that.
func TestPrune(t *testing.T) {
	for seed := range uint64(6) {
		whole := New()
		want, wantLinks := chains(whole, journey(whole, seed))
		for _, every := range []int{1, 7, 100} {
			l := NewPruned(every)
			got, links := chains(l, journey(l, seed))
			if d := cmp.Diff(want, got) + cmp.Diff(wantLinks, links); d != "" {
				t.Fatalf("seed %d, every %d: %s", seed, every, d)
			}
			if l.Points() != whole.Points() {
				t.Errorf("seed %d, every %d: %d points, not %d", seed, every, l.Points(), whole.Points())
			}
			if l.used > whole.used/2 || len(l.paths) > len(whole.paths) {
				t.Errorf("seed %d, every %d: space for %d points of %d, and for %d paths of %d", seed, every, l.used,
					whole.used, len(l.paths), len(whole.paths))
			}
		}
	}
}

// Points that were kept once and are of no use any more are dropped in the end.
func TestPruneOld(t *testing.T) {
	l := NewPruned(10)
	s := l.AddSite(Operation{})
	chain := l.Start(0, s)
	for i := range 50_000 {
		if chain = l.Add(unit.Time(i+1), chain, Latency, At(Path, int(l.Extend(0, i)))); i%1000 == 999 {
			chain = l.Start(unit.Time(i+1), s)
		}
		if l.Due() {
			l.Prune(func(k *Keep) { k.Point(chain) })
		}
	}
	if most := l.Capacity(); most > 1200 || len(l.paths) > 1200 {
		t.Errorf("space for %d points and %d paths, chains of 1,000", most, len(l.paths))
	}
}

// Chains are followed up to points that were kept before. Those are kept until an eighth more are.
func TestPruneFollowsNewPoints(t *testing.T) {
	l := NewPruned(1)
	s := l.AddSite(Operation{})
	chain := func(n int) (p Point) {
		p = l.Start(0, s)
		for i := range n - 1 {
			p = l.Add(unit.Time(i+1), p, Latency, At(Path, int(l.Extend(0, i))))
		}
		return p
	}
	for i, c := range []struct{ adds, keeps int }{{80, 80}, {5, 85}, {5, 90}, {5, 5}, {0, 0}} {
		p := Point(0)
		if c.adds > 0 {
			p = chain(c.adds)
		}
		if l.Prune(func(k *Keep) { k.Point(p) }); l.old.number != c.keeps {
			t.Errorf("Prune %d: %d points are kept, want %d", i+1, l.old.number, c.keeps)
		}
	}
}

// A log without a chain to keep does not grow.
func TestPruneAll(t *testing.T) {
	l := NewPruned(10)
	s := l.AddSite(Operation{})
	for i := range 1000 {
		l.Add(unit.Time(i+1), l.Start(unit.Time(i), s), Latency, At(Path, int(l.Extend(0, i))))
		if l.Due() {
			l.Prune(func(*Keep) {})
		}
	}
	if most := l.Capacity(); most > 20 || most < 10 || len(l.paths) > 20 || l.indexed > 20 {
		t.Errorf("space for %d points, %d paths, %d of them known", l.used, len(l.paths), l.indexed)
	}
}
