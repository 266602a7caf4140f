package view_test

import (
	"math"
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

// TestSweepTimes: the page has the times of the rows, including the launch in software. A wrong row
// is not the fastest. The bound lies beyond each curve, as time and as bandwidth.
func TestSweepTimes(t *testing.T) {
	s, err := perf.Run(ctx, perf.Spec{Base: run.Spec{Topology: "dgx-h100", Ranks: 8}, Collective: "all_reduce",
		Algorithms: []string{"ring_allreduce", "tree_allreduce"}, Min: 64 << 10, Max: 64 << 10,
		Factor: 2, Iterations: 1, Check: true, Bound: true, Memory: unit.GiB}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := &s.Rows[0]
	if row.Launch == 0 {
		t.Fatal("the machine has no launch in software")
	}
	d := view.Sweep(s)
	took := float64(row.InPlace.Time)
	if got := *d.Charts[0].Series[0].Y[0]; got != took {
		t.Errorf("the curve has %v ps, the row %v", got, took)
	}
	all := d.Tables[1].Rows[0]
	if all[7] != float64(row.OutOfPlace.Time) || all[11] != took {
		t.Errorf("the row has %v and %v ps, not %v and %v", all[7], all[11], row.OutOfPlace.Time, row.InPlace.Time)
	}
	for k, c := range d.Charts {
		bound := c.Series[len(c.Series)-1]
		if !bound.Bound {
			t.Fatalf("%s has no bound", c.Title)
		}
		for _, one := range c.Series[:len(c.Series)-1] {
			if k == 0 && *bound.Y[0] > *one.Y[0] || k > 0 && *bound.Y[0] < *one.Y[0] {
				t.Errorf("%s: %s has %v beyond the bound %v", c.Title, one.Name, *one.Y[0], *bound.Y[0])
			}
		}
	}
	if least := *d.Charts[0].Series[2].Y[0]; math.Abs(least-*row.HardwareUs*1e6) > 1 {
		t.Errorf("the bound is %v ps, of the row %v µs", least, *row.HardwareUs)
	}
	first := d.Tables[0].Rows[0][3]
	wrong := int64(1)
	for i := range s.Rows {
		if s.Rows[i].Algorithm == first {
			s.Rows[i].InPlace.Wrong = &wrong
		}
	}
	if again := view.Sweep(s).Tables[0].Rows[0][3]; again == first {
		t.Errorf("%v is wrong, and the fastest", again)
	}
}
