package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/internal/exhaustive"
	"kernbench/lab/explain"
	"kernbench/lab/run"
)

// TestSavingsAreBounded: what a resource without limits saves is at most its blame. Where messages meet in
// another order it can be more: such anomalies are marked, and rare.
func TestSavingsAreBounded(t *testing.T) {
	presets := []string{"ahbm-cube", "dgx-h100", "wormhole-mesh"}
	bounded, useful, rates := 0, 0, 0
	var anomalies []string
	for i, a := range algorithm.All() {
		for j, p := range presets {
			if !exhaustive.On() && (i+j)%8 != 0 {
				continue
			}
			for _, elems := range []int{100, 5000} {
				s := run.Spec{Topology: p, Algorithm: a.Name, Ranks: 8, NElem: elems}
				r, _, err := explain.Run(ctx, explain.Spec{Run: s})
				if err != nil {
					continue // the algorithm does not take these ranks
				}
				r.Collective = "" // other algorithms are not of interest
				all, err := r.WhatIf(ctx, explain.WhatIf{List: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range all {
					if c.Error != "" {
						t.Errorf("%s on %s: %s: %s", a.Name, p, c.Name, c.Error)
					}
					if c.Anomaly != (c.Bounded && c.Saved > c.Blame) {
						t.Errorf("%+v", c)
					}
					if c.Bounded {
						bounded++
					}
					if c.Anomaly && strings.HasSuffix(c.Name, " of any rate") {
						rates++
					}
					if c.Saved > 0 {
						useful++
					}
					if c.Anomaly {
						anomalies = append(anomalies, fmt.Sprintf("%s on %s, %d: %s saves %v of %v", a.Name, p, elems, c.Name, c.Saved, c.Blame))
					}
				}
			}
		}
	}
	t.Logf("%d changes with a bound, %d save time, %d anomalies:\n%s", bounded, useful, len(anomalies), strings.Join(anomalies, "\n"))
	if bounded == 0 || useful*4 < bounded || len(anomalies)*30 > bounded || rates*100 > bounded {
		t.Errorf("%d changes with a bound, %d save time, %d anomalies, %d with links of any rate:\n%s", bounded, useful, len(anomalies), rates, strings.Join(anomalies, "\n"))
	}
}

// TestWhatIf: changes are ranked, each can be asked for by itself, and the best say what comes next.
func TestWhatIf(t *testing.T) {
	s := run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096}
	r, _, err := explain.Run(ctx, explain.Spec{Run: s})
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.WhatIf(ctx, explain.WhatIf{Sets: []string{"pe.issue_ns=4", "pe.issue_ns=0", "pe.isue_ns=0"}, Top: 1})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if all[0].Name != "--set pe.issue_ns=0" || all[0].Saved <= 0 || !strings.HasPrefix(all[0].Next, "arithmetic, ") {
		t.Errorf("the best is %+v", all[0])
	}
	if all[1].Saved >= 0 || all[1].Next != "" {
		t.Errorf("the next is %+v", all[1])
	}
	if !strings.Contains(all[2].Error, "pe.issue_ns") {
		t.Errorf("a mistake is %+v", all[2])
	}
	plain, err := run.Run(ctx, run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096, Sets: []string{"pe.issue_ns=0"}})
	if err != nil || plain.SimulatedTime != all[0].Time {
		t.Errorf("%v, and by itself %v, %v", all[0].Time, plain.SimulatedTime, err)
	}
}

// TestSlotsThatMend: where credits are waited for, the number of slots that is named mends it.
func TestSlotsThatMend(t *testing.T) {
	s := run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", Ranks: 4, NElem: 1 << 20, Sets: []string{"system.link.latency_ns=3000", "fabric.buffer_bytes=1GiB", "defaults.slot_size=64KiB"}}
	r, _, err := explain.Run(ctx, explain.Spec{Run: s})
	if err != nil || r.Slots == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	mended, _, err := explain.Run(ctx, explain.Spec{Run: run.Spec{
		Topology: s.Topology, Algorithm: s.Algorithm, Ranks: s.Ranks, NElem: s.NElem, Sets: append(s.Sets, fmt.Sprintf("defaults.n_slots=%d", r.Slots.Enough)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	stall := func(r *explain.Report) float64 {
		for _, s := range r.Reasons {
			if s.Name == "credit stall" {
				return s.Percent
			}
		}
		return 0
	}
	if stall(r) < 20 || stall(mended) > 1 || mended.SimulatedTime >= r.SimulatedTime {
		t.Errorf("%.1f %% credit stall in %v; with %d slots %.1f %% in %v", stall(r), r.SimulatedTime, r.Slots.Enough, stall(mended), mended.SimulatedTime)
	}
}
