package view

import (
	"fmt"
	"math"
	"strings"

	"kernbench/lab/perf"
	"kernbench/lab/run"
)

// Rounding makes the document of a collective's rounding errors: whether results are within the
// bound of their additions, whether bits agree, and all rows.
func Rounding(n *perf.Rounding) *Document {
	d := New("What rounding does to "+n.Collective, n.MadeBy)
	d.fact("machine", n.Machine)
	d.fact("executor", strings.TrimSpace(n.Executor+" "+n.Fidelity))
	if n.Ranks > 0 {
		d.fact("ranks", fmt.Sprint(n.Ranks))
	}
	d.fact("algorithms", strings.Join(n.Algorithms, ", "))
	d.fact("inputs", strings.Join(n.Inputs, ", "))
	d.fact("seed", fmt.Sprint(n.Seed))
	rows := &Table{Title: "Rounding of each call", Rows: [][]any{}, Columns: []Column{
		{"size", Bytes}, {"ranks", Count}, {"type", Text}, {"operator", Text}, {"algorithm", Text}, {"settings", Text}, {"inputs", Text},
		{"largest error, ulp", Number}, {"mean error, ulp", Number}, {"bound, ulp", Number},
		{"of the bound", Percent}, {"beyond the bound", Count},
		{"overflow", Count}, {"additions", Count}, {"that changed nothing", Count}, {"ranks agree", Text}, {"chunks agree", Text},
		{"first overflow", Text}, {"time", Ps}, {"note", Text},
	}}
	bad, looked, failed := 0, 0, 0
	for i := range n.Rows {
		r := &n.Rows[i]
		if r.Bad() {
			bad++
		}
		if r.Err != nil {
			failed++
		}
		cells := []any{int64(r.Size), r.Ranks, r.Type, r.RedOp, r.Algorithm, settingsText(r.Settings), r.Inputs}
		if f := r.RoundingFound; f != nil {
			looked++
			first := ""
			if f.FirstOverflow != nil {
				first = f.FirstOverflow.String()
			}
			var took any
			if n.Timed {
				took = int64(f.Time)
			}
			cells = append(cells, finite(f.MaxULP), finite(f.MeanULP), finite(f.BoundULP), finite(100*f.OfBound),
				f.Beyond, f.Overflow, f.Additions, f.Stalled,
				agreed(f.RanksAgree), agreed(f.ChunkingAgrees), short(first), took)
		} else {
			cells = append(cells, make([]any, len(rows.Columns)-len(cells)-1)...)
		}
		rows.add(append(cells, short(r.Note))...)
	}
	v := run.Verdict{Question: "results", State: run.Checked,
		Detail: fmt.Sprintf("%d rows: each result has each contribution once and is within its bound", looked)}
	switch {
	case bad > 0:
		v.State, v.Detail = run.Failed, fmt.Sprintf("%d of %d rows are wrong, or farther off than their bound", bad, len(n.Rows))
	case looked == 0:
		v.State, v.Detail = run.NotChecked, "nothing was measured"
	}
	ends := run.Verdict{Question: "ends", State: run.Checked, Detail: fmt.Sprintf("all of %d rows came to their end", len(n.Rows))}
	if failed > 0 || len(n.Rows) < n.Planned {
		ends.State, ends.Detail = run.Failed,
			fmt.Sprintf("%d rows did not end; %d of %d rows exist", failed, len(n.Rows), n.Planned)
	}
	d.Verdicts = []run.Verdict{v, ends}
	d.Tables = []*Table{rows}
	for _, note := range n.Notes {
		d.Notes = append(d.Notes, short(note))
	}
	return d
}

// finite returns a number for JSON, or nil for infinities and NaN.
func finite(f float64) any {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return f
}

// agreed returns a word for whether bits agree; nil means that there is nothing to compare.
func agreed(yes *bool) any {
	switch {
	case yes == nil:
		return nil
	case *yes:
		return "yes"
	}
	return "no"
}
