package view_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/unit"
)

// The document of rounding has the rows of the result, and marks wrong and missing ones.
func TestRounding(t *testing.T) {
	n, err := perf.Round(ctx, perf.RoundingSpec{Spec: perf.Spec{
		Base: run.Spec{Topology: "ahbm-cube", Ranks: 4}, Collective: "all_reduce", Algorithms: []string{"ring_allreduce"},
		Min: unit.KiB, Max: 4 * unit.KiB, Factor: 2, Iterations: 1, Memory: unit.GiB,
	}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := view.Rounding(n)
	for _, v := range d.Verdicts {
		if v.State != run.Checked {
			t.Errorf("%+v", v)
		}
	}
	rows := d.Tables[0]
	if len(rows.Rows) != 3 || len(n.Rows) != 3 {
		t.Fatalf("%d rows of %d", len(rows.Rows), len(n.Rows))
	}
	for i, row := range rows.Rows {
		r := &n.Rows[i]
		if len(row) != len(rows.Columns) || row[0] != int64(r.Size) || row[4] != "ring_allreduce" ||
			row[7] != r.MaxULP || row[15] != "no" || *r.RanksAgree {
			t.Errorf("row %d is %v, of %+v", i, row, r)
		}
	}

	n.Rows[0].Wrong = 2
	n.Rows[1].BoundULP = math.Inf(1)
	n.Rows[2].RoundingFound, n.Rows[2].Err, n.Rows[2].Note = nil, errors.New("deadlock"), "deadlock"
	d = view.Rounding(n)
	for _, v := range d.Verdicts {
		if v.State != run.Failed {
			t.Errorf("%+v of rows that are wrong and missing", v)
		}
	}
	if last := d.Tables[0].Rows[2]; len(last) != len(rows.Columns) || last[len(last)-1] != "deadlock" || last[7] != nil {
		t.Errorf("a row without a result is %v", last)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Errorf("an infinite bound: %v", err)
	}
}
