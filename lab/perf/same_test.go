package perf

import (
	"context"
	"testing"

	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// TestSameRunsAreSimulatedOnce: in a contest a row has the time of another one whose run is the
// same. A run that fails gives no time: each row then has an error of its own.
func TestSameRunsAreSimulatedOnce(t *testing.T) {
	for _, small := range []bool{false, true} {
		s := Spec{Base: run.Spec{Topology: "dgx-a100", Ranks: 8}, Collective: "all_reduce", Factor: 2}
		s.Min, s.Max = 512*unit.KiB, 512*unit.KiB
		if small {
			s.Base.Sets = []string{"cube.hbm.capacity_per_pe=256KiB"}
		}
		s.Algorithms = []string{"auto"}
		p, err := planPerf(context.Background(), &s)
		if err != nil {
			t.Fatal(err)
		}
		c := p.callGroups()[0]
		if _, err := p.hold(context.Background(), c, map[string][]sweep.Point{}); err != nil {
			t.Fatal(err)
		}
		rows, simulated, failed, runs := 0, 0, 0, map[string]bool{}
		for _, r := range c.rows {
			if r.Algorithm != "direct_allreduce" && r.Algorithm != "rail_allreduce" {
				continue
			}
			rows++
			runs[p.runKey(r)] = true
			if p.events[c.key(r)] > 0 {
				simulated++
			}
			if at := r.InPlace; at != nil && at.Err != nil {
				failed++
			}
		}
		if small && (failed != rows || len(c.took) > 0) {
			t.Errorf("%d of %d rows have an error, and %d runs a time", failed, rows, len(c.took))
		}
		if !small && (simulated != 3 || len(runs) != 3 || rows < 6) {
			t.Errorf("%d simulations of %d runs for %d rows, want one for each of 3 protocols", simulated, len(runs), rows)
		}
	}
}
