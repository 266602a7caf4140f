package perf_test

import (
	"context"
	"testing"

	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/unit"
)

// TestLongWindows: parts of several tiles move in parallel. Results are right. On a full mesh,
// moving one part after the other would use one link of many. There, times are near to those of the
// algorithms that stage nothing.
func TestLongWindows(t *testing.T) {
	for _, test := range []struct {
		collective, direct string
		algorithms         []string
	}{
		{"all_gather", "direct_allgather", []string{"window_allgather", "window_allgather_push", "hierarchical_allgather"}},
		{"reduce_scatter", "direct_reduce_scatter",
			[]string{"window_reduce_scatter", "window_reduce_scatter_push", "hierarchical_reduce_scatter"}},
		{"all_reduce", "direct_allreduce",
			[]string{"window_allreduce_twophase", "window_allreduce_twophase_push", "hierarchical_direct_allreduce"}},
	} {
		for _, size := range []unit.Bytes{1_500_004, 4 * unit.MiB} {
			r, err := perf.Run(context.Background(), perf.Spec{
				Base: run.Spec{Topology: "mi300x-8", Ranks: 7}, Collective: test.collective, Min: size, Max: size, Factor: 2,
				Algorithms: append([]string{test.direct}, test.algorithms...), Check: size < 4*unit.MiB, Memory: unit.GiB,
			}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var least unit.Time
			for _, row := range r.Rows {
				at := row.OutOfPlace
				switch {
				case at == nil || at.Err != nil || at.Wrong != nil && *at.Wrong != 0:
					t.Errorf("%s, %v: %+v", row.Algorithm, size, at)
				case row.Algorithm == test.direct:
					least = at.Time
				case size == 4*unit.MiB && at.Time > 2*least:
					t.Errorf("%s, %v: %v, and %s takes %v", row.Algorithm, size, at.Time, test.direct, least)
				}
			}
		}
	}
}
