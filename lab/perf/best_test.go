package perf_test

import (
	"fmt"
	"testing"

	_ "kernbench/internal/fewcollections"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// TestBest: each size has its fastest row, with the second fastest and the ratio of their times.
func TestBest(t *testing.T) {
	s := perfOf("all_reduce", 4)
	s.Algorithms, s.Min, s.Max, s.Factor = []string{"ring_allreduce", "ring_allreduce_chunked", "tree_allreduce"}, unit.KiB, 64*unit.KiB, 64
	got := measured(t, s)
	if len(got.Best) != 2 {
		t.Fatalf("%+v, want one of each size", got.Best)
	}
	for i, b := range got.Best {
		fastest, second := unit.MaxTime, unit.MaxTime
		name := ""
		for _, r := range got.Rows {
			if r.Size != b.Size {
				continue
			}
			switch at := r.InPlace.Time; {
			case at < fastest:
				fastest, second, name = at, fastest, r.Algorithm
			case at < second:
				second = at
			}
		}
		if b.Size != []unit.Bytes{unit.KiB, 64 * unit.KiB}[i] || b.Algorithm != name || b.Time != fastest ||
			b.NextTimes != float64(second)/float64(fastest) || b.Next == b.Algorithm {
			t.Errorf("%+v, want %s in %v before %v", b, name, fastest, second)
		}
	}
	s.Algorithms = s.Algorithms[:1]
	if got := measured(t, s); got.Best != nil {
		t.Errorf("one algorithm is the best of one: %+v", got.Best)
	}
	s.Vary = []sweep.Variation{{Key: "n_slots", Values: []string{"2", "8"}}}
	if got := measured(t, s); len(got.Best) != 2 || fmt.Sprint(got.Best[1].Settings) == "[]" {
		t.Errorf("settings are compared too: %+v", got.Best)
	}
}
