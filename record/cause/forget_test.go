package cause

import (
	"math/rand/v2"
	"testing"

	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// journey writes points of some actors that wait for each other, and lets the log forget now and
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
			l.Forget(func(k *Keep) {
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

// What a log keeps leads back to the start as if nothing had been forgotten.
func TestForget(t *testing.T) {
	for seed := range uint64(6) {
		whole := New()
		want, wantLinks := chains(whole, journey(whole, seed))
		for _, every := range []int{1, 7, 100} {
			l := NewForgetful(every)
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

// A log without a chain to keep does not grow.
func TestForgetAll(t *testing.T) {
	l := NewForgetful(10)
	s := l.AddSite(Operation{})
	for i := range 1000 {
		l.Add(unit.Time(i+1), l.Start(unit.Time(i), s), Latency, At(Path, int(l.Extend(0, i))))
		if l.Due() {
			l.Forget(func(*Keep) {})
		}
	}
	if most := l.Most(); most > 20 || most < 10 || len(l.paths) > 20 || l.indexed > 20 {
		t.Errorf("space for %d points, %d paths, %d of them known", l.used, len(l.paths), l.indexed)
	}
}
