package explain

import (
	"context"
	"testing"

	"kernbench/lab/run"
)

// A change of a run with many messages under way is simulated with a log of causes. Its time is
// that without one.
func TestChangesOfCrowdedRuns(t *testing.T) {
	r, _, err := Run(context.Background(), Spec{Run: run.Spec{Algorithm: "direct_allreduce", Ranks: 8, NElem: 256}})
	if err != nil {
		t.Fatal(err)
	}
	if r.crowded || r.trialLog() != nil {
		t.Error("a run of 8 ranks is crowded")
	}
	what := WhatIf{Sets: []string{"pe.dma.setup_ns=0", "fabric.memory_order=sequential"}}
	want, err := r.WhatIf(context.Background(), what)
	if err != nil {
		t.Fatal(err)
	}
	if r.crowded = true; r.trialLog() == nil {
		t.Error("a crowded run is to be replayed")
	}
	got, err := r.WhatIf(context.Background(), what)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i].Time != want[i].Time || got[i].Name != want[i].Name || got[i].Error != "" || got[i].spec.Causes != nil {
			t.Errorf("%s: %v with a log and %v without: %s", got[i].Name, got[i].Time, want[i].Time, got[i].Error)
		}
	}
}

// When a run has been explained, nothing keeps its log of causes: what is tried next may need the
// memory.
func TestLogIsGivenBack(t *testing.T) {
	r, res, err := Run(context.Background(), Spec{Run: run.Spec{Algorithm: "direct_allreduce", Ranks: 8, NElem: 256}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Spec.Causes != nil || r.Spec.Causes != nil || r.job.Spec.Causes != nil {
		t.Error("the log of causes is kept")
	}
}
