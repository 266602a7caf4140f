package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/record/cause"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// A message waits for a link from 10 to 40, which another one holds from 0 to 40.
func queueing() (*cause.Log, cause.Point) {
	l := cause.New()
	link := cause.At(cause.Link, 7)
	one, two := l.AddSite(cause.Operation{Rank: 1, Call: "send"}), l.AddSite(cause.Operation{Rank: 2, Call: "send"})
	first := l.Add(40, l.Start(0, one), cause.Serialisation, link)
	issued := l.Add(10, l.Start(0, two), cause.Issue, cause.At(cause.CPU, 2))
	began := l.Wait(10, first, l.Owner(issued), cause.Queueing, link)
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
	if w := c.Waits; len(w) != 1 || w[0].Since != 10 || w[0].Until != 40 || l.Operation(w[0].For.Site).Rank != 1 {
		t.Errorf("waits %+v", w)
	}
	if got := l.Time(end); got != 70 {
		t.Errorf("time %v", got)
	}
}

// A point is of the step that its chain has begun last. A wait does not change to that of the other
// chain.
func TestBegin(t *testing.T) {
	l := cause.New()
	a, b := l.AddSite(cause.Operation{Call: "send"}), l.AddSite(cause.Operation{Call: "recv"})
	start := l.Start(0, a)
	sent := l.Begin(cause.StepOf(3), start)
	if p := l.Begin(cause.StepOf(3), sent); p != sent || l.Time(sent) != 0 || l.Owner(sent) != (cause.Owner{Site: a, Step: 4}) {
		t.Errorf("%v, %v", p, l.Owner(sent))
	}
	came := l.Add(10, sent, cause.Latency, cause.At(cause.Link, 1))
	taken := l.Wait(2, came, cause.Owner{Site: b, Step: cause.MostSteps}, cause.Credit, cause.At(cause.Ring, 0))
	c := l.Walk(l.Add(12, taken, cause.Wake, 0))
	if len(c.Spans) != 2 || c.Spans[0].Step != cause.MostSteps || c.Spans[0].Why != cause.Wake || c.Spans[1].Step != 4 {
		t.Errorf("%+v", c.Spans)
	}
	from := cause.Owner{Site: a, Step: 4}
	if w := c.Waits; len(w) != 1 || w[0].Step != cause.MostSteps || w[0].Why != cause.Credit || w[0].For != from {
		t.Errorf("%+v", w)
	}
	for number, want := range map[uint32]cause.Step{0: 1, 1<<24 - 3: 1<<24 - 2, 1 << 24: cause.MostSteps, 1<<32 - 1: cause.MostSteps} {
		if got := cause.StepOf(number); got != want {
			t.Errorf("message %d: step %d, want %d", number, got, want)
		}
	}
}

// Serve is Wait and Add, whether it makes one point or two: of no time, of a wait too long for one.
func TestServe(t *testing.T) {
	const long = 1 << 32
	link := cause.At(cause.Link, 7)
	for _, c := range []struct {
		from, since, end unit.Time
		space            bool
		points           int // of Serve, in memory
	}{
		{40, 10, 70, false, 1}, {40, 10, 70, true, 1}, {40, 10, 40, false, 1}, {40, 10, 40, true, 1},
		{long, 1, long + 9, false, 1}, {long, 0, long + 9, false, 2}, {2 * long, 1, 2*long + 9, true, 2},
	} {
		serve, apart := cause.New(), cause.New()
		var before [2]int
		ends := make([]cause.Point, 0, 8)
		for i, l := range []*cause.Log{serve, apart} {
			one, two := l.AddSite(cause.Operation{Rank: 1}), l.AddSite(cause.Operation{Rank: 2})
			first := l.Add(c.from, l.Begin(3, l.Start(0, one)), cause.Serialisation, link)
			own := cause.Owner{Site: two, Step: 4}
			before[i] = l.Capacity()
			var start, served cause.Point
			if l == serve {
				start, served = l.Serve(c.since, first, c.end, own, 7, c.space)
			} else {
				at := link
				if c.space {
					at = cause.At(cause.Buffer, 7)
				}
				start = l.Wait(c.since, first, own, cause.Queueing, at)
				served = l.AddAt(c.end, start, own, cause.Serialisation, link)
			}
			head := l.Add(c.end+20, start, cause.Latency, cause.At(cause.Path, int(l.Extend(0, 1))))
			ends = append(ends, start, served, head, l.Begin(5, start))
			l.AddRun(cause.Run{End: c.end, Last: served})
			if err := l.Check(&l.Runs()[0]); err != nil {
				t.Error(err)
			}
		}
		for i, p := range ends[:4] {
			q := ends[4+i]
			if serve.Time(p) != apart.Time(q) || serve.Owner(p) != apart.Owner(q) || serve.Site(p) != apart.Site(q) {
				t.Errorf("%+v: point %d: %v of %v, want %v of %v", c, i, serve.Time(p), serve.Owner(p), apart.Time(q), apart.Owner(q))
			}
			if d := cmp.Diff(apart.Walk(q), serve.Walk(p)); d != "" {
				t.Errorf("%+v: chain %d: %s", c, i, d)
			}
		}
		if d := cmp.Diff(each(apart), each(serve)); d != "" {
			t.Errorf("%+v: points: %s", c, d)
		}
		if serve.Points() != apart.Points() {
			t.Errorf("%+v: %d points, want %d", c, serve.Points(), apart.Points())
		}
		if got, after := serve.Capacity()-before[0], apart.Capacity()-before[1]; c.end > c.from && got != after-2+c.points {
			t.Errorf("%+v: space for %d points, and %d apart", c, got, after)
		}
	}
}

// each lists what Each has.
func each(l *cause.Log) (all []string) {
	l.Each(func(s *cause.Span) { all = append(all, fmt.Sprint(*s)) },
		func(w *cause.Waiting, _ cause.Point) { all = append(all, fmt.Sprint(*w)) })
	return all
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
