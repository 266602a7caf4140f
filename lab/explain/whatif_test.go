package explain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/lab/explain"
	"kernbench/lab/run"
)

// TestSavingsAreBounded: what a resource without limits saves is at most its blame. Where messages
// meet in another order it can be more: such anomalies are marked, and rare. None takes half as
// long again.
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
					if c.Error != "" && !strings.Contains(c.Error, "the rings need") { // more memory than there is
						t.Errorf("%s on %s: %s: %s", a.Name, p, c.Name, c.Error)
					}
					if c.Anomaly != (c.Bounded && c.Saved > c.Blame) {
						t.Errorf("%+v", c)
					}
					if c.Bounded {
						bounded++
						if -c.Saved > r.SimulatedTime/2 {
							t.Errorf("%s on %s, %d: with %s it takes %v, not %v", a.Name, p, elems, c.Name, c.Time, r.SimulatedTime)
						}
					}
					if c.Anomaly && strings.HasSuffix(c.Name, " with unlimited rate") {
						rates++
					}
					if c.Saved > 0 {
						useful++
					}
					if c.Anomaly {
						anomalies = append(anomalies,
							fmt.Sprintf("%s on %s, %d: %s saves %v of %v", a.Name, p, elems, c.Name, c.Saved, c.Blame))
					}
				}
			}
		}
	}
	t.Logf("%d changes with a bound, %d save time, %d anomalies:\n%s", bounded, useful, len(anomalies), strings.Join(anomalies, "\n"))
	if bounded == 0 || useful*4 < bounded || len(anomalies)*30 > bounded || rates*100 > bounded {
		t.Errorf("%d changes with a bound, %d save time, %d anomalies, %d with links of any rate:\n%s", bounded,
			useful, len(anomalies), rates, strings.Join(anomalies, "\n"))
	}
}

// TestWhatIf: changes are ranked, each can be asked for by itself, and the best say what comes
// next.
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
	for set, want := range map[string]string{
		"pe.isue_ns=0": `did you mean "pe.issue_ns"?`, "foo=1": "the keys start with", "pe.issue_ns.x=1": "no keys below",
	} {
		one := explain.WhatIf{Sets: []string{"pe.issue_ns=0", set}}
		if err := one.Check(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want an error with %q", set, err, want)
		}
	}
	if one := (&explain.WhatIf{Sets: []string{"pe.issue_ns=0", "defaults.n_slots=0"}}); one.Check(s) != nil {
		t.Errorf("refused before the run: %v", one.Check(s))
	}
	plain, err := run.Run(ctx, run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096,
		Sets: []string{"pe.issue_ns=0"}})
	if err != nil || plain.SimulatedTime != all[0].Time {
		t.Errorf("%v, and by itself %v, %v", all[0].Time, plain.SimulatedTime, err)
	}
}

// TestSlotsThatMend: where credits are waited for, the number of slots that is named mends it.
func TestSlotsThatMend(t *testing.T) {
	s := run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", Ranks: 4, NElem: 1 << 20,
		Sets: []string{"software.channels.count=0", "system.link.latency_ns=3000", "fabric.buffer_bytes=1GiB", "defaults.slot_size=64KiB"}}
	r, _, err := explain.Run(ctx, explain.Spec{Run: s})
	if err != nil || r.Slots == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	mended, _, err := explain.Run(ctx, explain.Spec{Run: run.Spec{
		Topology: s.Topology, Algorithm: s.Algorithm, Ranks: s.Ranks, NElem: s.NElem,
		Sets: append(s.Sets, fmt.Sprintf("defaults.n_slots=%d", r.Slots.Enough)),
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
		t.Errorf("%.1f %% credit stall in %v; with %d slots %.1f %% in %v", stall(r), r.SimulatedTime, r.Slots.Enough,
			stall(mended), mended.SimulatedTime)
	}
}

// TestMoreRanksSmallerMessages: over links of 100 µs between hosts, 16 ranks keep the bandwidth of
// an all-reduce, and 32 lose half. Their messages are half as large, and there are no more slots to
// hold them. The number of slots that is named mends it.
func TestMoreRanksSmallerMessages(t *testing.T) {
	spec := func(ranks, slots int) run.Spec {
		return run.Spec{Topology: "leaf-spine-roce", Algorithm: "ring_allreduce_chunked", Ranks: ranks,
			NElem: 8 << 20, DType: dtype.F32, Sets: []string{
				"system.levels.1.link.latency_ns=50000", "fabric.buffer_bytes=64MiB", "pe.tcm.capacity=256MiB", "pe.tcm.scratch=64MiB",
				"defaults.slot_size=2MiB", "defaults.nchannels=1", fmt.Sprintf("defaults.n_slots=%d", slots),
			}}
	}
	bandwidth := func(ranks, slots int) float64 {
		res, err := run.Run(ctx, spec(ranks, slots))
		if err != nil {
			t.Fatal(err)
		}
		return res.BusBW
	}
	r, res, err := explain.Run(ctx, explain.Spec{Run: spec(32, 6)})
	if err != nil || r.Slots == nil {
		t.Fatal(r, err)
	}
	if s := *r.Slots; s.Have != 6 || s.Enough != 11 || s.Message != 1<<20 || s.SlotBytes != 2<<20 {
		t.Errorf("%+v", s)
	}
	path := float64(r.Slots.Path) / 1e9
	for _, tt := range []struct {
		name          string
		got           float64
		least, atMost float64 // of what the path carries
	}{
		{"16 ranks", bandwidth(16, 6), 0.9, 1},
		{"32 ranks", res.BusBW, 0.4, 0.6},
		{"what the slots of 32 ranks carry", float64(r.Slots.Carry()) / 1e9, 0.5, 0.6},
		{"32 ranks, mended", bandwidth(32, r.Slots.Enough), 0.9, 1},
	} {
		if share := tt.got / path; share < tt.least || share > tt.atMost {
			t.Errorf("%s: %.2f of what the path carries, not %.1f to %.1f", tt.name, share, tt.least, tt.atMost)
		}
	}
}

// TestOwnSettings: a change of protocol or slots reaches an algorithm whose entry has a value of
// its own.
func TestOwnSettings(t *testing.T) {
	const entry = "algorithms.ring_allreduce_chunked."
	for _, tt := range []struct {
		set, change, flags, not string
		sets                    []string
	}{
		{"protocol=ll", "protocol simple", "--set defaults.protocol=simple --set " + entry + "protocol=simple", "protocol ll", nil},
		{"n_slots=4", "8 slots", "--set defaults.n_slots=8 --set " + entry + "n_slots=8", "4 slots", []string{
			"system.link.latency_ns=3000", "fabric.buffer_bytes=1GiB", "defaults.slot_size=64KiB"}},
	} {
		t.Run(tt.change, func(t *testing.T) {
			s := run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", Ranks: 4, NElem: 1 << 20,
				Sets: append(tt.sets, entry+tt.set)}
			r, _, err := explain.Run(ctx, explain.Spec{Run: s})
			if err != nil {
				t.Fatal(err)
			}
			r.Collective = "" // other algorithms are not of interest
			all, err := r.WhatIf(ctx, explain.WhatIf{List: true})
			if err != nil {
				t.Fatal(err)
			}
			names := ""
			for _, c := range all {
				names += fmt.Sprintf("\n%s (%s) saves %v", c.Name, c.Flags, c.Saved)
			}
			i := slices.IndexFunc(all, func(c explain.Change) bool { return c.Name == tt.change })
			if i < 0 || all[i].Flags != tt.flags || all[i].Saved == 0 || all[i].Error != "" {
				t.Errorf("%q with %q is not among%s", tt.change, tt.flags, names)
			}
			if slices.ContainsFunc(all, func(c explain.Change) bool { return c.Name == tt.not }) {
				t.Errorf("what is set is a change, too:%s", names)
			}
		})
	}
}

// TestWhatIfIsStopped: each simulation is reported, and what was tried before an interruption is
// returned.
func TestWhatIfIsStopped(t *testing.T) {
	r, _, err := explain.Run(ctx, explain.Spec{Run: run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 4, NElem: 64}})
	if err != nil {
		t.Fatal(err)
	}
	w := explain.WhatIf{Sets: []string{"pe.issue_ns=4", "pe.issue_ns=0", "pe.issue_ns=8"}, Top: 2}
	var seen []run.Progress
	w.Progress = func(p run.Progress) { seen = append(seen, p) }
	if all, err := r.WhatIf(ctx, w); err != nil || len(all) != 3 || len(seen) != 5 || seen[0].Done != 1 ||
		seen[4].Done != 5 || seen[4].Total != 5 {
		t.Errorf("%+v, %v, progress %v", all, err, seen)
	}
	for _, tt := range []struct {
		after, tried int
		want         string
	}{
		{2, 2, "2 of 3 changes were tried: "},
		{3, 3, "all changes were tried, 0 of the best explained: "},
	} {
		stopped, stop := context.WithCancel(ctx)
		w.Progress = func(p run.Progress) {
			if p.Done == int64(tt.after) {
				stop()
			}
		}
		all, err := r.WhatIf(stopped, w)
		if len(all) != tt.tried || !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("after %d: %+v, %v", tt.after, all, err)
		}
		if !slices.IsSortedFunc(all, func(a, b explain.Change) int { return int(b.Saved - a.Saved) }) {
			t.Errorf("not ranked: %+v", all)
		}
	}
}
