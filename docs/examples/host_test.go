package main

import (
	"context"
	"testing"

	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/lab/run"
)

// The host programs run on both executors, and on PEs of several SIPs.
func TestHostPrograms(t *testing.T) {
	race := true
	for _, name := range []string{"shift", "all_reduce_custom"} {
		for _, s := range []run.Spec{{Executor: mock.Name}, {Executor: sim.Name}, {Executor: mock.Name, Topology: "dgx-h100", Ranks: 8}} {
			s.Bench, s.VerifyData, s.Race = name, true, &race
			r, err := run.Run(context.Background(), s)
			if err != nil || !r.OK() {
				t.Errorf("%s on %s: %+v: %v", name, s.Executor, r, err)
			}
		}
	}
}
