package explain_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/fault"
	"kernbench/internal/exhaustive"
	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/unit"
)

var ctx = context.Background()

// whole fails the test unless the blames of a run add up to its time, with that of the launch. That
// must be the time of the run without causes.
func whole(t *testing.T, s run.Spec) *explain.Report {
	t.Helper()
	plain, err := run.Run(ctx, s)
	switch {
	case fault.Is(err) && !strings.Contains(err.Error(), "the rings need"): // more memory than there is
		t.Fatal(err)
	case err != nil:
		t.Skip(err) // the algorithm does not take these ranks
	}
	r, _, err := explain.Run(ctx, explain.Spec{Run: s})
	if err != nil {
		t.Fatal(err)
	}
	sum := unit.Time(0)
	for _, b := range r.Blames {
		sum += b.Time
		if b.Reason == "unknown" || b.Reason == "" {
			t.Errorf("%+v has no reason", b)
		}
	}
	time := plain.SimulatedTime + plain.Launch
	if sum != time || r.LeftOver != 0 || r.Time() != time {
		t.Errorf("blames of %v and %v left over, time %v, without causes %v", sum, r.LeftOver, r.Time(), time)
	}
	for _, shares := range [][]explain.Share{r.Reasons, r.Lines, r.Steps} {
		sum = 0
		for _, s := range shares {
			sum += s.Time
		}
		if sum != time {
			t.Errorf("shares of %v in %v: %+v", sum, time, shares)
		}
	}
	if g := r.Gap; g != nil {
		sum = g.Bound
		for _, t := range g.Terms {
			sum += t.Time
		}
		if sum != time {
			t.Errorf("bound and terms are %v, the time %v: %+v", sum, time, g)
		}
	}
	return r
}

// TestBlamesAddUp: of each algorithm, on some presets or all.
func TestBlamesAddUp(t *testing.T) {
	presets, ranks := []string{"ahbm-cube", "dgx-h100"}, []int{4}
	if exhaustive.On() {
		presets, ranks = nil, []int{3, 8}
		for _, p := range machine.Presets() {
			presets = append(presets, p.Name)
		}
	}
	for i, a := range algorithm.All() {
		for j, p := range presets {
			if !exhaustive.On() && (i+j)%2 == 1 {
				continue
			}
			for _, n := range ranks {
				for _, elems := range []int{100, 20000} {
					if elems > 100 && i%4 > 0 && (!exhaustive.On() || n == 3) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%d/%d", a.Name, p, n, elems), func(t *testing.T) {
						whole(t, run.Spec{Topology: p, Algorithm: a.Name, Ranks: n, NElem: elems})
					})
				}
			}
		}
	}
}

// TestBenchesAddUp: of host programs with streams, tasks and several launches.
func TestBenchesAddUp(t *testing.T) {
	small := map[string]run.Spec{}
	for _, p := range bench.All() {
		s := run.Spec{Bench: p.Name, Topology: "ahbm-cube"}
		if p.Collectives {
			s.NElem = 64
		}
		small[p.Name] = s
	}
	for name, s := range small {
		t.Run(name, func(t *testing.T) { whole(t, s) })
	}
}

// TestRank: after its end a rank waits for the others.
func TestRank(t *testing.T) {
	s := run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 1000}
	imbalance := 0
	for rank := range 8 {
		r, _, err := explain.Run(ctx, explain.Spec{Run: s, Rank: &rank})
		if err != nil {
			t.Fatal(err)
		}
		if r.Explained != r.SimulatedTime || r.LeftOver != 0 {
			t.Errorf("rank %d: %v of %v", rank, r.Explained, r.SimulatedTime)
		}
		for _, b := range r.Blames {
			if b.Reason == "imbalance" {
				imbalance++
			}
		}
	}
	if imbalance == 0 || imbalance == 8 {
		t.Errorf("%d of 8 ranks wait for the last one", imbalance)
	}
	rank := 8
	if _, _, err := explain.Run(ctx, explain.Spec{Run: s, Rank: &rank}); err == nil ||
		err.Error() != "rank 8: the launch has ranks 0 to 7" {
		t.Error(err)
	}
}

// TestBetween: parts of the time add up to all of it.
func TestBetween(t *testing.T) {
	s := run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 4, NElem: 1000}
	all, _, err := explain.Run(ctx, explain.Spec{Run: s})
	if err != nil {
		t.Fatal(err)
	}
	first, _, err1 := explain.Run(ctx, explain.Spec{Run: s, Until: 100 * unit.Nanosecond})
	rest, _, err2 := explain.Run(ctx, explain.Spec{Run: s, From: 100 * unit.Nanosecond})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if first.Explained != 100*unit.Nanosecond || first.LeftOver != 0 || first.Explained+rest.Explained != all.Explained {
		t.Errorf("%v and %v of %v", first.Explained, rest.Explained, all.Explained)
	}
	for _, until := range []unit.Time{0, 2 * unit.Second} {
		if _, _, err := explain.Run(ctx, explain.Spec{Run: s, From: unit.Second, Until: until}); err == nil {
			t.Errorf("from 1 s until %v: no error, and the run ends before", until)
		}
	}
}

// TestRefuses: what cannot be explained is said as such.
func TestRefuses(t *testing.T) {
	for name, s := range map[string]run.Spec{
		"schedule": {Schedule: 3}, "no clock": {Executor: "mock"},
	} {
		if _, _, err := explain.Run(ctx, explain.Spec{Run: s}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestPublishedHop: 64 bytes from PE 1 to PE 2, from the call of the send to the return of the
// receive. With the routers and the wake-up of the machine that it was published of, it takes the
// published 14.0 ns.
func TestPublishedHop(t *testing.T) {
	for _, tt := range []struct {
		name string
		sets []string
		end  unit.Time
		want string
	}{
		{"as published", []string{"cube.noc.router_ns=2", "defaults.wake_cost_ns=4.63"}, 29250 * unit.Picosecond,
			"router 8ns, poll or wake-up 4.63ns, issue 1ns, serialisation 0.25ns, link latency 0.12ns: 14ns"},
		{"as the default machine", nil, 32620 * unit.Picosecond,
			"router 12ns, poll or wake-up 4ns, issue 1ns, serialisation 0.25ns, link latency 0.12ns: 17.37ns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rank := 2
			r, _, err := explain.Run(ctx, explain.Spec{
				Run: run.Spec{Bench: "ccl_hello", Ranks: 8, Sets: tt.sets}, Rank: &rank, From: 15250 * unit.Picosecond, Until: tt.end,
			})
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, s := range r.Reasons {
				parts = append(parts, fmt.Sprintf("%s %v", s.Name, s.Time))
			}
			if got := fmt.Sprintf("%s: %v", strings.Join(parts, ", "), r.Explained); got != tt.want || r.LeftOver != 0 {
				t.Errorf("%s, %v left over; want %s", got, r.LeftOver, tt.want)
			}
		})
	}
}
