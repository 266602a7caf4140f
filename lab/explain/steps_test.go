package explain

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"kernbench/lab/run"
	"kernbench/record/cause"
	"kernbench/record/trace"
	"kernbench/unit"
)

// The steps of a trace follow one another, from the start of the run to its end or in the part that
// the trace has.
func TestSteps(t *testing.T) {
	for _, scope := range []trace.Scope{{}, {From: 100 * unit.Nanosecond, To: 300 * unit.Nanosecond}} {
		x := &explaining{log: cause.New()}
		job, err := run.Load(run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096,
			Causes: x.log, TraceScope: scope})
		if err != nil {
			t.Fatal(err)
		}
		x.m, x.job = job.Machine, job
		res, err := job.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		at, end := scope.From, scope.To
		if end == 0 {
			end = res.SimulatedTime
		}
		for _, s := range x.steps() {
			if s.Start != at || s.End <= s.Start || s.Reason == "" || s.Operation == "" {
				t.Fatalf("%+v comes at %v", s, at)
			}
			at = s.End
		}
		if at != end {
			t.Errorf("the steps end at %v, and the run or its part at %v", at, end)
		}
	}
}

// Runs that are tried beside the explained one leave its trace alone.
func TestTraceIsOfTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.pftrace")
	r, _, err := Run(context.Background(), Spec{Run: run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce",
		Ranks: 4, NElem: 64, TraceFile: file}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := r.WhatIf(context.Background(), WhatIf{Sets: []string{"pe.issue_ns=0"}, Top: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a changed run has written the trace")
	}
}
