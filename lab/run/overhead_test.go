package run_test

import (
	"slices"
	"testing"

	"kernbench/exec/mock"
	"kernbench/lab/run"
	"kernbench/unit"
)

// started is a machine whose collectives have a start in software.
var started = []string{
	"software.launch_ns=8400", "software.protocols.ll.launch_ns=6600.5", "software.protocols.ll.latency_ns=184",
	"software.protocols.ll.efficiency=0.5", "software.protocols.simple.latency_ns=2984",
}

// TestLaunchIsBesideTheTime: the start of a collective is not simulated. It is reported in
// addition, once for each launch with collectives.
func TestLaunchIsBesideTheTime(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec run.Spec
		sets []string
		want unit.Time
	}{
		{"simple", run.Spec{Ranks: 4, NElem: 64}, nil, 8400 * unit.Nanosecond},
		{"ll", run.Spec{Ranks: 4, NElem: 64}, []string{"defaults.protocol=ll"}, 6_600_500},
		{"of the algorithm", run.Spec{Ranks: 4, NElem: 64, Algorithm: "ring_allreduce"},
			[]string{"algorithms.ring_allreduce.protocol=ll"}, 6_600_500},
		{"mock", run.Spec{Ranks: 4, NElem: 64, Executor: mock.Name}, nil, 0},
		{"no collective", run.Spec{Bench: "gemm_single_pe"}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := func(sets ...string) *run.Result {
				s := tt.spec
				s.Sets = slices.Concat(sets, tt.sets)
				r, err := run.Run(ctx, s)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			with, without := run(started...), run(append(started[2:len(started):len(started)], "software.launch_ns=0")...)
			if with.Launch != tt.want || without.Launch != 0 {
				t.Errorf("%v for the start, and %v without any; want %v", with.Launch, without.Launch, tt.want)
			}
			if with.SimulatedTime != without.SimulatedTime || with.AlgBW != without.AlgBW || with.BusBW != without.BusBW {
				t.Errorf("%v with a start, %v without", with.SimulatedTime, without.SimulatedTime)
			}
		})
	}
}
