package explain

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"kernbench/lab/run"
	"kernbench/unit"
)

// The intervals of each rank cover its time, from the start of the run to the end of the rank.
// Those of the path cover the whole run.
func TestDetailIsComplete(t *testing.T) {
	for _, s := range []run.Spec{
		{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096},
		{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", Ranks: 8, NElem: 1 << 16},
		{Topology: "ahbm-cube", Algorithm: "direct_all_to_all", Ranks: 8, NElem: 1024},
		{Topology: "ahbm-cube", Algorithm: "window_allreduce_twophase", Ranks: 4, NElem: 1024},
		{Topology: "dgx-h100", Algorithm: "double_tree_allreduce", Ranks: 8, NElem: 4096},
		{Bench: "gemm_single_pe"},
	} {
		r, res, err := Run(context.Background(), Spec{Run: s, Detail: true})
		if err != nil {
			t.Fatal(err)
		}
		d := r.TakeDetail()
		type agent struct{ pe, rank int32 }
		intervals := map[agent][]Interval{}
		waits := 0
		d.Each(nil, func(s *Interval) {
			o := d.Operation(s.Own)
			intervals[agent{o.PE, o.Rank}] = append(intervals[agent{o.PE, o.Rank}], *s)
			if s.Why.String() == "unknown" {
				t.Errorf("%s: %+v has no reason", r.Algorithm, *s)
			}
		}, func(q *Queued) {
			if name, class := d.Link(q.Link); name == "" || class == "" || q.Since >= q.Until || q.Behind == 0 {
				t.Errorf("%s: %+v", r.Algorithm, *q)
			}
			waits++
		})
		if len(intervals) != max(1, res.WorldSize) {
			t.Errorf("%s: %d agents of %d ranks", r.Algorithm, len(intervals), res.WorldSize)
		}
		if waits == 0 && r.Algorithm == "direct_all_to_all" {
			t.Error("no message of an all-to-all has waited")
		}
		start, end := d.Span()
		latest := start
		for l, all := range intervals {
			slices.SortFunc(all, func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) })
			at := start
			for _, s := range all {
				if s.Start > at {
					t.Errorf("%s: nothing is known of rank %d between %v and %v", r.Algorithm, l.rank, at, s.Start)
				}
				at = max(at, s.End)
			}
			latest = max(latest, at)
		}
		if latest != end {
			t.Errorf("%s: the last interval ends at %v, the run at %v", r.Algorithm, latest, end)
		}
		at := start
		d.Path(func(s Interval) {
			if s.Start != at || s.End <= s.Start {
				t.Errorf("%s: %+v of the path comes at %v", r.Algorithm, s, at)
			}
			at = s.End
		})
		if at != end || unit.Time(end-start) != res.SimulatedTime {
			t.Errorf("%s: the path ends at %v, the run at %v, the time is %v", r.Algorithm, at, end, res.SimulatedTime)
		}
	}
}

// Without Spec.Detail the log of causes is not kept.
func TestDetailIsAskedFor(t *testing.T) {
	r, _, err := Run(context.Background(), Spec{Run: run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 2, NElem: 64}})
	if err != nil || r.TakeDetail() != nil {
		t.Errorf("%v, %v", r, err)
	}
}
