package explain_test

import (
	"slices"
	"testing"

	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/unit"
)

// TestLaunch: the software that starts a collective has a blame of its own, which equals the time
// that a machine without it saves. A part of the simulated time has none of it.
func TestLaunch(t *testing.T) {
	s := run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", Ranks: 4, NElem: 1000}
	r := whole(t, s)
	i := slices.IndexFunc(r.Blames, func(b explain.Blame) bool { return b.Reason == "launch" })
	if i < 0 || r.Launch == 0 || r.Blames[i].Time != r.Launch || r.Explained != r.SimulatedTime+r.Launch {
		t.Fatalf("launch of %v: %+v", r.Launch, r.Blames)
	}
	if g := r.Gap; g == nil || g.Bound < r.Launch ||
		slices.ContainsFunc(g.Terms, func(t explain.Term) bool { return t.Reason == "launch" }) {
		t.Errorf("the bound is without the launch: %+v", g)
	}
	r.Collective = "" // other algorithms are not of interest
	all, err := r.WhatIf(ctx, explain.WhatIf{List: true})
	if err != nil {
		t.Fatal(err)
	}
	i = slices.IndexFunc(all, func(c explain.Change) bool { return c.Name == "launch 0" })
	if i < 0 || all[i].Saved != r.Launch || all[i].Launch != 0 || all[i].Time != r.SimulatedTime {
		t.Errorf("without launch: %+v", all)
	}
	part, _, err := explain.Run(ctx, explain.Spec{Run: s, Until: 100 * unit.Nanosecond})
	if err != nil || part.Explained != 100*unit.Nanosecond || part.LeftOver != 0 {
		t.Errorf("a part has %v, %v left over, %v", part.Explained, part.LeftOver, err)
	}
}
