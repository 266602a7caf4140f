package perf_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kernbench/lab/perf"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// TestRanks: several numbers of ranks in one sweep give the rows of separate sweeps.
func TestRanks(t *testing.T) {
	s := perfOf("all_reduce", 0)
	s.Algorithms, s.Ranks, s.Bound = []string{"ring_allreduce", "tree_allreduce"}, []int{2, 8, 4}, true
	all := measured(t, s)
	if all.Ranks != 0 || !slices.Equal(all.RanksList, s.Ranks) || len(all.Rows) != 6 || len(all.Best) != 3 || all.Best[1].Ranks != 4 {
		t.Fatalf("%d ranks of all, list %v, %d rows, best %+v", all.Ranks, all.RanksList, len(all.Rows), all.Best)
	}
	for i, n := range s.Ranks {
		one := perfOf("all_reduce", n)
		one.Algorithms, one.Bound = s.Algorithms, true
		for k, r := range measured(t, one).Rows {
			got := all.Rows[2*i+k]
			if got.Ranks != n || got.Algorithm != r.Algorithm || got.InPlace.Time != r.InPlace.Time || *got.HardwareUs != *r.HardwareUs {
				t.Errorf("%+v, want %+v", got, r)
			}
		}
	}
	s.Ranks = []int{4}
	if one := measured(t, s); one.Ranks != 4 || one.RanksList != nil || len(one.Rows) != 2 {
		t.Errorf("%d ranks, list %v, %d rows", one.Ranks, one.RanksList, len(one.Rows))
	}
}

// TestRanksOfAuto: the fastest is found for each number of ranks.
func TestRanksOfAuto(t *testing.T) {
	s := perfOf("all_gather", 0)
	s.Algorithms, s.Ranks, s.Min, s.Max, s.Check = []string{"auto"}, []int{2, 3}, unit.KiB, unit.KiB, false
	if got := measured(t, s); len(got.Rows) != 2 || got.Rows[0].Ranks != 2 || got.Rows[1].Ranks != 3 {
		t.Errorf("%+v", got.Rows)
	}
}

func TestRanksRefused(t *testing.T) {
	for want, change := range map[string]func() (ranks []int, vary []sweep.Variation){
		"4 ranks are in the list twice": func() ([]int, []sweep.Variation) { return []int{4, 2, 4}, nil },
		"world_size and the number of ranks are varied": func() ([]int, []sweep.Variation) {
			return []int{4, 2}, []sweep.Variation{{Key: "defaults.world_size", Values: []string{"2"}}}
		},
		"300 ranks: the machine has 256 PEs": func() ([]int, []sweep.Variation) { return []int{2, 300}, nil },
	} {
		s := perfOf("all_reduce", 0)
		s.Ranks, s.Vary = change()
		if _, err := perf.Run(context.Background(), s, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
