package view_test

import (
	"testing"

	"kernbench/lab/calibrate"
	"kernbench/lab/view"
	"kernbench/unit"
)

// The document of a score has each table's times and errors as curves and rows, and NCCL's model
// where there is one.
func TestScored(t *testing.T) {
	row := calibrate.ScoreRow{Size: 8, Measured: 4 * unit.Microsecond, Simulated: 3 * unit.Microsecond, Error: -0.25, Algorithm: "ring",
		Protocol: "ll", Outlier: true, NCCL: &calibrate.Yardstick{Time: 5 * unit.Microsecond, Error: 0.25}}
	plain := row
	plain.Outlier, plain.NCCL = false, nil
	s := &calibrate.Score{Topology: "dgx", Machine: "8 GPUs", Tables: []calibrate.TableScore{
		{File: "a.tsv", Collective: "all_reduce", Ranks: 8, Type: "f32", Rows: []calibrate.ScoreRow{row},
			Bands: []calibrate.ScoreBand{{Machine: calibrate.Deviation{Sizes: 1, Median: 0.25, Worst: -0.25, At: 8},
				NCCL: &calibrate.Deviation{Sizes: 1, Median: 0.5}}, {To: 64 * unit.KiB}}},
		{File: "b.tsv", Collective: "broadcast", Ranks: 4, Type: "bf16", Rows: []calibrate.ScoreRow{plain}},
	}}
	d := view.Scored(s)
	if len(d.Tables) != 3 || len(d.Charts) != 4 || len(d.Verdicts) != 2 || d.Title != "dgx beside 2 measured tables" {
		t.Fatalf("%d tables, %d charts, %d verdicts, %q", len(d.Tables), len(d.Charts), len(d.Verdicts), d.Title)
	}
	if sums := d.Tables[0].Rows; len(sums) != 1 || sums[0][4] != 25.0 || sums[0][5] != -25.0 || sums[0][7] != 50.0 {
		t.Errorf("the errors are %v", sums)
	}
	times, off := d.Charts[0].Series, d.Charts[1].Series
	if len(times) != 3 || *times[0].Y[0] != 4e6 || *times[1].Y[0] != 3e6 || *times[2].Y[0] != 5e6 ||
		*off[0].Y[0] != -25 || *off[1].Y[0] != 25 {
		t.Errorf("curves of %+v and %+v", times, off)
	}
	if len(d.Charts[2].Series) != 2 {
		t.Errorf("%d curves where NCCL has no model", len(d.Charts[2].Series))
	}
	for i, want := range []string{"outlier of the table", ""} {
		cells := d.Tables[1+i].Rows[0]
		if len(cells) != len(d.Tables[1+i].Columns) || cells[1] != int64(4*unit.Microsecond) || cells[8] != want {
			t.Errorf("a row is %v", cells)
		}
	}
}
