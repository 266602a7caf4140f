package perf

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"kernbench/internal/exhaustive"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// autoCase is a call whose algorithm is chosen by measurement.
type autoCase struct {
	machine    string
	ranks      int
	collective string
	size       unit.Bytes
}

// plan returns the plan of a sweep of one size.
func (c autoCase) plan(t *testing.T) *perfPlan {
	t.Helper()
	p, err := planPerf(context.Background(), &Spec{
		Base: run.Spec{Topology: c.machine, Ranks: c.ranks}, Collective: c.collective, Min: c.size, Max: c.size, Factor: 2,
		Algorithms: []string{"auto"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fastestOf returns the row that is shown, and the sizes with their numbers of runs. It changes the
// plan first, unless change is nil.
func fastestOf(t *testing.T, c autoCase, change func(*perfPlan)) (fastest *Row, sizes []unit.Bytes, runs []int) {
	t.Helper()
	ctx, p := context.Background(), c.plan(t)
	if change != nil {
		change(p)
	}
	groups := p.callGroups()
	if err := p.measureFastest(ctx, groups, func(r *Row) { fastest = r }); err != nil {
		t.Fatal(err)
	}
	for _, c := range groups {
		sizes, runs = append(sizes, c.size), append(runs, len(c.took))
	}
	return fastest, sizes, runs
}

// TestLimitsRuleOutNoWinner: the same row wins if no row is ruled out by its limit, and fewer runs
// decide that. How many instructions are counted at first does not matter: all are counted where
// these do not decide. In the calls on tpu-v5p, a row wins that is measured after others because of
// its limit.
func TestLimitsRuleOutNoWinner(t *testing.T) {
	cases := []autoCase{
		{"tpu-v5p", 4, "all_gather", 256 * unit.KiB},
		{"tpu-v5p", 8, "reduce_scatter", 256 * unit.KiB},
		{"dgx-h100", 4, "all_reduce", unit.MiB},
	}
	if exhaustive.On() {
		cases = append(cases,
			autoCase{"dgx-b200", 8, "all_reduce", 16 * unit.MiB},
			autoCase{"leaf-spine-roce", 16, "all_reduce", 4 * unit.MiB},
			autoCase{"ahbm-cube", 8, "broadcast", 4 * unit.MiB},
			autoCase{"wormhole-mesh", 16, "all_gather", 4 * unit.MiB})
	}
	saved := 0
	for _, c := range cases {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			want, _, all := fastestOf(t, c, func(p *perfPlan) { p.simulateAll = true })
			var runs []int
			for _, instructions := range []int64{firstInstructions, 1000, 1} {
				got, _, some := fastestOf(t, c, func(p *perfPlan) { p.countFirst = instructions })
				if got.Algorithm != want.Algorithm || got.Note != want.Note || got.Deciding().Time != want.Deciding().Time {
					t.Errorf("%d instructions: %s %s in %v, want %s %s in %v", instructions,
						got.Algorithm, got.Note, got.Deciding().Time, want.Algorithm, want.Note, want.Deciding().Time)
				}
				runs = append(runs, totalOf(some))
			}
			if runs[0] > totalOf(all) {
				t.Errorf("%d runs, and %d if no row is ruled out", runs[0], all)
			}
			if slices.Min(runs) != runs[0] || slices.Max(runs) != runs[0] {
				t.Errorf("%d runs, which depend on how many instructions are counted first", runs)
			}
			saved += totalOf(all) - runs[0]
		})
	}
	if saved == 0 {
		t.Error("limits ruled out no row")
	}
}

func totalOf(all []int) (n int) {
	for _, v := range all {
		n += v
	}
	return n
}

// TestLargeStart: a sweep that begins with a large size measures two smaller ones first. At the
// large size only rows near the best are measured.
func TestLargeStart(t *testing.T) {
	c := autoCase{"ascend-910b-8", 4, "all_reduce", 4 * unit.MiB}
	got, sizes, runs := fastestOf(t, c, nil)
	if want := []unit.Bytes{256 * unit.KiB, 512 * unit.KiB, 4 * unit.MiB}; !slices.Equal(sizes, want) {
		t.Fatalf("runs of %v, want %v", sizes, want)
	}
	if runs[2] >= runs[0]/2 {
		t.Errorf("%d runs of the large size, and %d of the smallest one", runs[2], runs[0])
	}
	best := unit.MaxTime
	p, err := planPerf(context.Background(), &Spec{
		Base: run.Spec{Topology: c.machine, Ranks: c.ranks}, Collective: c.collective, Min: c.size, Max: c.size, Factor: 2,
		AllAlgorithms: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.measure(context.Background(), func(r *Row) {
		if at := r.Deciding(); at != nil {
			best = min(best, at.Time)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if got.Deciding().Time > best {
		t.Errorf("%s in %v, and the best takes %v", got.Algorithm, got.Deciding().Time, best)
	}
	if _, sizes, _ := fastestOf(t, autoCase{"ascend-910b-8", 4, "all_reduce", 2 * unit.MiB}, nil); len(sizes) != 1 {
		t.Errorf("runs of %v, want only 2 MiB", sizes)
	}
}

// TestSlowBestBringsBackRuledOut: the line of ring_allreduce is too low. It rules out
// direct_allreduce, which only its limits had ruled out at smaller sizes. The measured time is
// above the line, so direct_allreduce is measured, and wins. Each row is measured once.
func TestSlowBestBringsBackRuledOut(t *testing.T) {
	const size = 256 * unit.KiB
	ctx, p := context.Background(), autoCase{"dgx-h100", 4, "all_reduce", size}.plan(t)
	c := p.callGroups()[0]
	rowOf := func(name string) *Row {
		i := slices.IndexFunc(c.rows, func(r *Row) bool { return r.Algorithm == name && r.Protocol == "simple" })
		if i < 0 {
			t.Fatalf("%s is no row of %v", name, c.size)
		}
		return c.rows[i]
	}
	slow, fast := rowOf("ring_allreduce"), rowOf("direct_allreduce")
	c.rows = []*Row{slow, fast}
	known := map[string][]sweep.Point{c.key(slow): {{Size: size / 4, Time: 1}, {Size: size / 2, Time: 2}}}
	p.ruled[c.key(fast)] = []sweep.Point{{Size: size / 4, Time: 100}, {Size: size / 2, Time: 200}}
	if near, unknown := c.due(known, p.ruled); !slices.Equal(near, []*Row{slow}) || len(unknown) != 0 {
		t.Fatalf("the line does not rule out %s: %d rows are near, and %d unknown", fast.Algorithm, len(near), len(unknown))
	}
	got, err := p.hold(ctx, c, known)
	if err != nil {
		t.Fatal(err)
	}
	if got.Algorithm != fast.Algorithm {
		t.Errorf("%s in %v is shown, want %s", got.Algorithm, got.Deciding().Time, fast.Algorithm)
	}
	if s, f := known[c.key(slow)], known[c.key(fast)]; len(s) != 3 || len(f) != 1 || s[2].Time <= f[0].Time {
		t.Errorf("times of %s: %v, of %s: %v", slow.Algorithm, s, fast.Algorithm, f)
	}
}

// TestUndecidedRowsAreCounted: window_allreduce_onephase_push must move bytes for longer than
// binomial_allreduce takes. So it is not measured, however few of its instructions are counted at
// first. Some numbers decide only that binomial_allreduce is measured before it.
func TestUndecidedRowsAreCounted(t *testing.T) {
	const size = 256 * unit.KiB
	ctx, p := context.Background(), autoCase{"ahbm", 16, "all_reduce", size}.plan(t)
	groups, undecided := p.callGroups(), 0
	for instructions := int64(1); instructions < 10_000; instructions += 1 + instructions/4 {
		c := *groups[0]
		c.rows = slices.DeleteFunc(slices.Clone(c.rows), func(r *Row) bool {
			return r.Algorithm != "binomial_allreduce" && r.Algorithm != "window_allreduce_onephase_push"
		})
		if len(c.rows) != 2 {
			t.Fatalf("%d rows", len(c.rows))
		}
		p.countFirst, p.ruled = instructions, ruledOut{}
		times := map[*Row]unit.Time{}
		if _, err := p.measureContenders(ctx, &c, nil, c.rows, times, map[string][]sweep.Point{}); err != nil {
			t.Fatal(err)
		}
		fast, slow := c.rows[0], c.rows[1]
		if len(times) != 1 || times[fast] == 0 {
			t.Errorf("%d instructions: %d rows are measured, want %s", instructions, len(times), fast.Algorithm)
		}
		limits, least := p.trafficLimits(ctx, &c, c.rows)
		if at := limits[slow]; at.part && at.time/firstOfLimits > least && at.time < times[fast] {
			undecided++
		}
	}
	if undecided == 0 {
		t.Error("the first instructions always decide")
	}
}
