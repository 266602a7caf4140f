package view_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/lab/plans"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/unit"
)

// exchanges returns an all-gather of two ranks: each sends two chunks at once, and then receives.
func exchanges(protocol string) string {
	gpu := func(id, peer, own, other string) string {
		step := func(s, typ, dst, off string) string {
			return `<step s="` + s + `" type="` + typ + `" srcbuf="i" srcoff="0" dstbuf="` + dst + `" dstoff="` + off +
				`" cnt="16" depid="-1" deps="-1" hasdep="0"/>`
		}
		return `<gpu id="` + id + `" i_chunks="16" o_chunks="32" s_chunks="0">` +
			`<tb id="0" send="` + peer + `" recv="` + peer + `" chan="0">` +
			step("0", "s", "o", own) + step("1", "r", "o", other) + `</tb></gpu>`
	}
	return `<algo name="exchange" proto="` + protocol + `" nchannels="1" nchunksperloop="32" ngpus="2" coll="allgather" inplace="1">` +
		gpu("0", "1", "0", "16") + gpu("1", "0", "16", "0") + `</algo>`
}

// The page of a program of another tool has its verdict, and a row and a point for each call. It
// also shows where the time of a single call went. A call that hangs has no time.
func TestProgram(t *testing.T) {
	name := filepath.Join(t.TempDir(), "exchange.xml")
	if err := os.WriteFile(name, []byte(exchanges("Simple")), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := plans.Load(plans.Spec{File: name, Topology: "dgx-h100"})
	if err != nil {
		t.Fatal(err)
	}
	var calls []*plans.Result
	for _, bytes := range []unit.Bytes{unit.MiB, 4 * unit.MiB, unit.GiB} {
		r, err := l.Time(ctx, bytes)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, r)
	}
	if calls[2].Deadlock == nil {
		t.Fatal("the call of 1 GiB ends")
	}

	one := view.Program(l.Verdict, calls[:1])
	if one.Verdicts[1].State != run.Checked || len(one.Charts) > 0 {
		t.Errorf("verdicts %v, %d charts", one.Verdicts, len(one.Charts))
	}
	if one.Verdicts[0].State != run.Failed || !strings.Contains(one.Verdicts[0].Detail, "DEADLOCK") {
		t.Errorf("verdict %+v of a program that hangs above a size", one.Verdicts[0])
	}
	sum := 0.0
	titles := map[string]int{}
	for _, table := range one.Tables {
		titles[table.Title] = len(table.Rows)
		for _, row := range table.Rows {
			if table.Title == "Critical path" {
				sum += row[2].(float64)
			}
			if len(row) != len(table.Columns) {
				t.Errorf("%s: a row of %d cells in %d columns", table.Title, len(row), len(table.Columns))
			}
		}
	}
	if sum < 99.9 || sum > 100.1 || titles["Ranks"] != 2 || titles["Operations on it"] == 0 {
		t.Errorf("the path has %v %%, tables %v", sum, titles)
	}

	all := view.Program(l.Verdict, calls)
	if all.Verdicts[1].State != run.Failed || !strings.Contains(all.Verdicts[1].Detail, "a call of 1 GiB hangs") {
		t.Errorf("verdict %+v, want that of the call that hangs", all.Verdicts[1])
	}
	rows := all.Tables[0].Rows
	for i, row := range rows {
		y := all.Charts[0].Series[0].Y[i]
		switch {
		case i == 2:
			if row[1] != nil || y != nil || row[6] != "hangs; above maxBytes 134217728: no runtime takes it" {
				t.Errorf("row %v and point %v of a call that hangs", row, y)
			}
		case row[1] != int64(calls[i].Time) || y == nil || *y != float64(calls[i].Time):
			t.Errorf("row %v and point %v, want %v", row, y, calls[i].Time)
		}
	}
	if len(rows) != 3 || len(all.Tables) != 1 {
		t.Errorf("%d rows, %d tables", len(rows), len(all.Tables))
	}
}
