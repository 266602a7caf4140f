package view

import (
	"fmt"
	"path/filepath"
	"strings"

	"kernbench/frontend"
	"kernbench/frontend/plan"
	"kernbench/lab/plans"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Program makes the document of a program of another tool: its verdict and the calls that were
// timed. Several calls have curves over their sizes. One has what its time was spent on.
func Program(v *frontend.Verdict, calls []*plans.Result) *Document {
	first := calls[0]
	d := New(filepath.Base(first.File), first.MadeBy)
	d.Verdicts = []run.Verdict{judged(v), timed(calls)}
	d.fact("file", first.File)
	d.fact("program", first.Name)
	d.fact("format", first.Dialect)
	place := "out of place"
	if first.InPlace {
		place = "in place"
	}
	d.fact("collective", fmt.Sprintf("%s, %d ranks, %s", first.Collective, first.World, place))
	d.fact("protocol", first.Protocol)
	d.fact("machine", first.Machine)
	d.fact("costs that are guesses", strings.Join(first.Model.Guessed, ", "))
	for _, n := range v.Notes {
		d.Notes = append(d.Notes, short(n))
	}
	d.Tables = append(d.Tables, callRows(calls))
	if len(calls) > 1 {
		d.Charts = callCharts(calls)
	} else if first.Result != nil {
		d.spent(first)
	}
	return d
}

// judged returns the verdict of import on the program.
func judged(v *frontend.Verdict) run.Verdict {
	var names, texts []string
	for _, k := range v.Verdicts {
		names = append(names, k.String())
	}
	for _, f := range v.Findings {
		texts = append(texts, f.String())
	}
	a := run.Verdict{Question: "program", State: run.Failed, Detail: short(strings.Join(texts, "; "))}
	switch {
	case v.OK():
		a.State, a.Detail = run.Checked, strings.Join(names, ", ")
	case v.Verdicts[0] == plan.NoPostcondition:
		a.State = run.NotChecked
	}
	return a
}

// timed reports whether all calls end.
func timed(calls []*plans.Result) run.Verdict {
	for _, r := range calls {
		if r.Deadlock != nil {
			return run.Verdict{Question: "ends", State: run.Failed,
				Detail: short(fmt.Sprintf("a call of %v hangs: %v", r.Bytes, r.Deadlock))}
		}
	}
	return run.Verdict{Question: "ends", State: run.Checked, Detail: "all calls came to their end"}
}

// callRows returns a row for each call.
func callRows(calls []*plans.Result) *Table {
	t := &Table{Title: "Calls", Rows: [][]any{}, Columns: []Column{
		{"size", Bytes}, {"time", Ps}, {"algbw", GBs}, {"busbw", GBs}, {"rounds", Count}, {"messages", Count}, {"note", Text},
	}}
	for _, r := range calls {
		cells := []any{nil, nil, nil, nil, r.Rounds, r.Messages, r.Note()}
		if r.Bytes > 0 {
			cells[0] = int64(r.Bytes)
		}
		switch {
		case r.Result == nil:
		case r.AlgBW > 0:
			cells[1], cells[2] = int64(r.Time), r.AlgBW
		default:
			cells[1] = int64(r.Time)
		}
		if r.Result != nil && r.BusBW > 0 {
			cells[3] = r.BusBW
		}
		t.add(cells...)
	}
	return t
}

// callCharts are time and bandwidth over the sizes. A call that hangs leaves a gap.
func callCharts(calls []*plans.Result) []*Chart {
	x := Column{"size", Bytes}
	charts := []*Chart{
		{Title: "Time", X: x, Y: Column{"simulated time", Ps}},
		{Title: "Bus bandwidth", X: x, Y: Column{"busbw", GBs}, Linear: true},
		{Title: "Algorithm bandwidth", X: x, Y: Column{"algbw", GBs}, Linear: true},
	}
	for i, c := range charts {
		curve := Curve{Name: calls[0].Name}
		for _, r := range calls {
			var y *float64
			if r.Result != nil {
				if v := [...]float64{float64(r.Time), r.BusBW, r.AlgBW}[i]; v > 0 {
					y = &v
				}
			}
			curve.X, curve.Y = append(curve.X, float64(r.Bytes)), append(curve.Y, y)
		}
		c.Series = []Curve{curve}
	}
	return charts
}

// spent adds what the time of a call was spent on.
func (d *Document) spent(r *plans.Result) {
	table := func(title string, rows int, columns ...Column) *Table {
		t := &Table{Title: title, Rows: [][]any{}, Columns: columns}
		if rows > 0 {
			d.Tables = append(d.Tables, t)
		}
		return t
	}
	part := func(t, of unit.Time) float64 { return 100 * float64(t) / float64(max(of, 1)) }
	time, share := Column{"time", Ps}, Column{"share", Percent}
	t := table("Critical path", len(r.Path), Column{"spent on", Text}, time, share)
	for _, s := range r.Path {
		t.add(s.What, int64(s.Time), part(s.Time, r.Until))
	}
	t = table("Longest steps on it", len(r.Steps), Column{"step", Text}, time, share)
	for _, s := range r.Steps {
		t.add(s.Where, int64(s.Time), part(s.Time, r.Until))
	}
	t = table("Operations on it", len(r.Ops), Column{"operation", Text}, Column{"slices", Count}, time, share)
	for _, o := range r.Ops {
		t.add(o.Name, o.Count, int64(o.Time), part(o.Time, r.Until))
	}
	t = table("Longest waits on it", len(r.Waits), Column{"step", Text}, Column{"for", Text}, Column{"of", Text}, time, share)
	for _, w := range r.Waits {
		t.add(w.Where, w.For, w.Of, int64(w.Time), part(w.Time, r.Until))
	}
	t = table("Busiest links", len(r.Links), Column{"link", Text}, Column{"busy", Ps}, share)
	for _, l := range r.Links {
		t.add(l.Name, int64(l.Busy), part(l.Busy, r.Time))
	}
	t = table("Collectives that the library performs", len(r.Performed), Column{"collective", Text}, Column{"ranks", Count},
		Column{"size", Bytes}, Column{"calls", Count}, Column{"algorithm", Text}, Column{"time of each", Ps})
	for _, p := range r.Performed {
		t.add(p.Collective, len(p.Ranks), int64(p.Bytes), p.Calls, p.Algorithm, int64(p.Time))
	}
	t = table("What if", len(r.Changes), Column{"change", Text}, time, Column{"saved", Ps}, Column{"flags", Text})
	for _, c := range r.Changes {
		if c.Error != "" {
			t.add(c.What, nil, nil, short(c.Error))
			continue
		}
		t.add(c.What, int64(c.Time), int64(c.Saved), c.Flags)
	}
	t = table("Ranks", len(r.Ranks), Column{"rank", Count}, Column{"end", Ps})
	for rank, end := range r.Ranks {
		t.add(rank, int64(end))
	}
}
