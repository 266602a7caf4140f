package perf_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kernbench/lab/perf"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// started is a machine whose collectives have a start in software.
var started = []string{
	"software.launch_ns=8400", "software.protocols.ll.launch_ns=6600.5", "software.protocols.ll.latency_ns=184",
	"software.protocols.ll.efficiency=0.5", "software.protocols.simple.latency_ns=2984",
}

// TestPerfAddsTheLaunch checks that the launch is added exactly: to times, to the times of
// bandwidths, and to bounds.
func TestPerfAddsTheLaunch(t *testing.T) {
	sweep := func(sets ...string) *perf.Sweep {
		s := perfOf("all_reduce", 4)
		s.Bound, s.Check = true, false
		s.Vary = []sweep.Variation{{Key: "protocol", Values: []string{"simple", "ll"}}}
		s.Base.Sets = sets
		return measured(t, s)
	}
	with := sweep(started...)
	without := sweep(append(started[2:len(started):len(started)], "software.protocols.ll.launch_ns=0")...)
	for i, launch := range []unit.Time{8400 * unit.Nanosecond, 6_600_500} {
		a, b := &with.Rows[i], &without.Rows[i]
		if a.Launch != launch || b.Launch != 0 {
			t.Errorf("row %d: %v and %v for the start, want %v and nothing", i, a.Launch, b.Launch, launch)
		}
		for k, p := range a.Placements() {
			q := b.Placements()[k]
			if p.Time != q.Time+launch {
				t.Errorf("row %d: %v, and %v without the %v of the start", i, p.Time, q.Time, launch)
			}
			near(t, "algbw", p.AlgBW, float64(a.Size)/p.Time.Ns())
			near(t, "busbw", p.BusBW, p.AlgBW*1.5)
		}
		near(t, "bound", *a.Us, *b.Us+launch.Ns()/1e3)
		fastest := math.Inf(1)
		for _, p := range a.Placements() {
			fastest = min(fastest, p.Time.Ns()/1e3)
		}
		near(t, "of the bound", *a.Fraction, *a.Us/fastest)
	}
	says := func(s *perf.Sweep) bool {
		return slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "6600.5ns to 8400ns") })
	}
	if !says(with) || says(without) {
		t.Errorf("notes %q, and without a start %q", with.Notes, without.Notes)
	}
}
