package view

import (
	"fmt"
	"path/filepath"

	"kernbench/lab/calibrate"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Scored makes the document of an unchanged machine next to measured tables. It has the machine's
// errors, and the times and errors of each table.
func Scored(s *calibrate.Score) *Document {
	d := New(fmt.Sprintf("%s beside %d measured tables", s.Topology, len(s.Tables)), s.MadeBy)
	if len(s.Tables) == 1 {
		d.Title = fmt.Sprintf("%s beside %s", s.Topology, filepath.Base(s.Tables[0].File))
	}
	d.fact("machine", s.Machine)
	d.fact("fidelity", s.Fidelity)
	sums := &Table{Title: "Errors, simulated over measured", Rows: [][]any{}, Columns: []Column{
		{"table", Text}, {"from", Bytes}, {"below", Bytes}, {"sizes", Count}, {"median", Percent}, {"worst", Percent}, {"worst at", Bytes},
		{"NCCL's model: median", Percent}, {"NCCL's model: worst", Percent}, {"NCCL's model: worst at", Bytes},
	}}
	d.Tables = []*Table{sums}
	for i := range s.Tables {
		d.scoredTable(&s.Tables[i], sums, len(s.Tables) > 1)
	}
	return d
}

// scoredTable adds one table, one of several or the only one, and its lines of the errors.
func (d *Document) scoredTable(t *calibrate.TableScore, sums *Table, several bool) {
	file := filepath.Base(t.File)
	name := fmt.Sprintf("%s of %d ranks, %s, %s", t.Collective, t.Ranks, t.Type, file)
	for _, h := range t.Header {
		if several {
			d.fact(file+": "+h.Key, h.Value)
			continue
		}
		d.fact(h.Key, h.Value)
	}
	for _, b := range t.Bands {
		if b.Machine.Sizes == 0 {
			continue
		}
		cells := []any{name, nil, nil, b.Machine.Sizes, 100 * b.Machine.Median, 100 * b.Machine.Worst, int64(b.Machine.At), nil, nil, nil}
		if b.From > 0 {
			cells[1] = int64(b.From)
		}
		if b.To > 0 {
			cells[2] = int64(b.To)
		}
		if b.NCCL != nil {
			cells[7], cells[8], cells[9] = 100*b.NCCL.Median, 100*b.NCCL.Worst, int64(b.NCCL.At)
		}
		sums.add(cells...)
	}
	times := &Chart{Title: name, X: Column{"size", Bytes}, Y: Column{"time", Ps}}
	errors := &Chart{Title: "Error: " + name, X: Column{"size", Bytes}, Y: Column{"error", Percent}, Linear: true}
	measured, simulated, nccl := Curve{Name: "measured"}, Curve{Name: "simulated"}, Curve{Name: "NCCL's model"}
	ours, theirs := Curve{Name: "simulated"}, Curve{Name: "NCCL's model"}
	rows := &Table{Title: name, Rows: [][]any{}, Columns: []Column{
		{"size", Bytes}, {"measured", Ps}, {"simulated", Ps}, {"error", Percent}, {"algorithm", Text}, {"protocol", Text},
		{"NCCL's model", Ps}, {"its error", Percent}, {"note", Text},
	}}
	number := func(f float64) *float64 { return &f }
	modelled := false
	for i := range t.Rows {
		r := &t.Rows[i]
		for _, c := range []*Curve{&measured, &simulated, &nccl, &ours, &theirs} {
			c.X = append(c.X, float64(r.Size))
		}
		measured.Y, simulated.Y = append(measured.Y, number(float64(r.Measured))), append(simulated.Y, number(float64(r.Simulated)))
		ours.Y = append(ours.Y, number(100*r.Error))
		note := ""
		switch {
		case r.Outlier:
			note = "outlier of the table"
		case r.Extrapolated:
			note = "simulated time is extrapolated"
		}
		cells := []any{int64(r.Size), int64(r.Measured), int64(r.Simulated), 100 * r.Error, r.Algorithm, r.Protocol, nil, nil, note}
		var model, off *float64
		if n := r.NCCL; n != nil {
			modelled = true
			model, off = number(float64(n.Time)), number(100*n.Error)
			cells[6], cells[7] = int64(n.Time), 100*n.Error
		}
		nccl.Y, theirs.Y = append(nccl.Y, model), append(theirs.Y, off)
		rows.add(cells...)
	}
	times.Series, errors.Series = []Curve{measured, simulated}, []Curve{ours}
	if modelled {
		times.Series, errors.Series = append(times.Series, nccl), append(errors.Series, theirs)
	}
	d.Charts = append(d.Charts, times, errors)
	d.Tables = append(d.Tables, rows)
	outliers := 0
	for i := range t.Rows {
		if t.Rows[i].Outlier {
			outliers++
		}
	}
	v := run.Verdict{Question: file, State: run.Checked, Detail: unit.Count(len(t.Rows), "size")}
	if outliers > 0 {
		v.Detail += fmt.Sprintf(", %d of them outliers of the table", outliers)
	}
	d.Verdicts = append(d.Verdicts, v)
	for _, n := range t.Notes {
		d.Notes = append(d.Notes, short(n))
	}
}
