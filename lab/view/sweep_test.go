package view_test

import (
	"slices"
	"testing"

	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/unit"
)

// The document of a sweep has its times in the curves and in the table, the fastest of each size,
// and the bound below them.
func TestSweep(t *testing.T) {
	s, err := perf.Run(ctx, perf.Spec{
		Base: run.Spec{Topology: "ahbm-cube", Ranks: 4}, Collective: "all_reduce", Algorithms: []string{"ring_allreduce", "tree_allreduce"},
		Min: unit.KiB, Max: 4 * unit.KiB, Factor: 2, Iterations: 1, Check: true, Bound: true, Memory: unit.GiB,
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := view.Sweep(s)
	for _, v := range d.Verdicts {
		if v.State != run.Checked {
			t.Errorf("%+v", v)
		}
	}
	times := d.Charts[0]
	if len(times.Series) != 3 || !times.Series[2].Bound || !slices.Equal(times.Series[0].X, []float64{1024, 2048, 4096}) {
		t.Fatalf("%+v", times)
	}
	best := d.Tables[0]
	if len(best.Rows) != 3 || len(d.Tables[1].Rows) != 6 {
		t.Errorf("%d sizes, %d rows", len(best.Rows), len(d.Tables[1].Rows))
	}
	for i, row := range best.Rows {
		least := min(*times.Series[0].Y[i], *times.Series[1].Y[i])
		if row[5] != least || *times.Series[2].Y[i] > least {
			t.Errorf("size %v: fastest %v, curves %v, bound %v", row[0], row[5], least, *times.Series[2].Y[i])
		}
		name := "ring_allreduce"
		if *times.Series[1].Y[i] == least {
			name = "tree_allreduce"
		}
		if row[3] != name {
			t.Errorf("size %v: fastest is %v, %s by the curves", row[0], row[3], name)
		}
	}
	s.Wrong, s.Planned = 3, 9
	for _, v := range view.Sweep(s).Verdicts {
		if v.State != run.Failed {
			t.Errorf("%+v of a sweep with wrong elements and rows that are missing", v)
		}
	}
}
