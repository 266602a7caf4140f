package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/record/cause"
)

// A message waits for a link from 10 to 40, which another one holds from 0 to 40.
func queueing() (*cause.Log, cause.Point) {
	l := cause.New()
	link := cause.At(cause.Link, 7)
	one, two := l.AddSite(cause.Operation{Rank: 1, Call: "send"}), l.AddSite(cause.Operation{Rank: 2, Call: "send"})
	first := l.Add(40, l.Start(0, one), cause.Serialisation, link)
	issued := l.Add(10, l.Start(0, two), cause.Issue, cause.At(cause.CPU, 2))
	began := l.Wait(10, first, l.Site(issued), cause.Queueing, link, 0)
	return l, l.Add(70, began, cause.Serialisation, link)
}

func TestWalk(t *testing.T) {
	l, end := queueing()
	c := l.Walk(end)
	var got strings.Builder
	for _, s := range c.Forward() {
		fmt.Fprintf(&got, "%d-%d rank %d %v waits %d;", s.Start, s.End, l.Operation(s.Site).Rank, s.Why, s.Waits)
	}
	if want := "0-40 rank 1 serialisation waits 1;40-70 rank 2 serialisation waits 0;"; got.String() != want {
		t.Errorf("%s, want %s", &got, want)
	}
	if w := c.Waits; len(w) != 1 || w[0].Since != 10 || w[0].Until != 40 || l.Operation(w[0].For).Rank != 1 {
		t.Errorf("waits %+v", w)
	}
	if got := l.Time(end); got != 70 {
		t.Errorf("time %v", got)
	}
}

func TestAddOfNoTimeAddsNothing(t *testing.T) {
	l, end := queueing()
	if p := l.Add(l.Time(end), end, cause.Issue, 0); p != end {
		t.Errorf("point %d instead of %d", p, end)
	}
}

func TestPaths(t *testing.T) {
	l := cause.New()
	p := l.Extend(l.Extend(0, 3), 5)
	if q := l.Extend(l.Extend(0, 3), 5); q != p {
		t.Errorf("paths %d and %d", p, q)
	}
	if got := fmt.Sprint(l.Links(cause.At(cause.Path, int(p)))); got != "[5 3]" {
		t.Errorf("links %s", got)
	}
}

func TestCheck(t *testing.T) {
	l, end := queueing()
	for _, c := range []struct {
		name string
		run  cause.Run
		want string
	}{
		{"all of it", cause.Run{End: 70, Last: end, Ends: []cause.Point{0, end}}, ""},
		{"no time", cause.Run{}, ""},
		{"a later end", cause.Run{End: 71, Last: end}, "the chain ends at 0.07ns"},
		{"an earlier start", cause.Run{Start: -1, End: 70, Last: end}, "the chain begins at 0ns"},
		{"no chain", cause.Run{End: 70}, "no chain"},
		{"time without a reason", cause.Run{End: 80, Last: l.Add(80, end, cause.Unknown, 0)}, "have no reason"},
	} {
		got := ""
		if err := l.Check(&c.run); err != nil {
			got = err.Error()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Each reason has a name of its own, and a resource keeps what it is made of.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range cause.Reasons() {
		if seen[r.String()] || r.String() == "" {
			t.Errorf("reason %d is called %q", r, r)
		}
		seen[r.String()] = true
	}
	for k := cause.None; k <= cause.Event; k++ {
		if r := cause.At(k, 1<<27); r.Kind() != k || r.Number() != 1<<27 {
			t.Errorf("%d %d", r.Kind(), r.Number())
		}
	}
}
