package view

import (
	"fmt"
	"path/filepath"
	"strings"

	"kernbench/lab/calibrate"
	"kernbench/lab/run"
)

// Calibration makes the document of a calibration: how far the fitted machine is off, measured and
// simulated times, and the parameters.
func Calibration(c *calibrate.Calibration) *Document {
	d := New(fmt.Sprintf("%s of %d ranks fitted to %s", c.Collective, c.Ranks, filepath.Base(c.File)), c.MadeBy)
	off := func(e *calibrate.Errors) string {
		return fmt.Sprintf("%.1f %% (geometric mean of %d sizes), at most %.1f %% at %v", 100*e.Mean, e.Sizes, 100*e.Largest, e.At)
	}
	for _, e := range []struct {
		name string
		*calibrate.Errors
	}{{"off, fitted sizes", &c.Fitted}, {"off, held-out sizes", &c.HeldOut}, {"off, excluded sizes", &c.Excluded},
		{"off before the fit", &c.Before}} {
		if e.Sizes > 0 {
			d.fact(e.name, off(e.Errors))
		}
	}
	v := run.Verdict{Question: "held-out sizes", State: run.Checked, Detail: "the fit has not seen them"}
	if c.HeldOut.Sizes == 0 {
		v = run.Verdict{Question: "held-out sizes", State: run.NotChecked, Detail: "there are none: --hold-out chooses some"}
	}
	d.Verdicts = []run.Verdict{v}
	d.fact("machine", strings.TrimSpace(c.Topology+" "+c.Machine))
	d.fact("fidelity", c.Fidelity)
	d.fact("algorithms", strings.Join(c.Algorithms, ", "))
	d.fact("protocols", strings.Join(c.Protocols, ", "))
	d.fact("work", fmt.Sprintf("%d rounds, %d simulations", c.Rounds, c.Simulations))
	for _, h := range c.Header {
		d.fact(h.Key, h.Value)
	}
	times := &Chart{Title: "Measured and simulated", X: Column{"size", Bytes}, Y: Column{"time", Ps}}
	errors := &Chart{Title: "Error of the simulated time", X: Column{"size", Bytes}, Y: Column{"error", Percent}, Linear: true}
	measured, simulated, before := Curve{Name: "measured"}, Curve{Name: "simulated"}, Curve{Name: "before the fit"}
	off1, off0 := Curve{Name: "simulated"}, Curve{Name: "before the fit"}
	rows := &Table{Title: "Sizes", Rows: [][]any{}, Columns: []Column{
		{"size", Bytes}, {"measured", Ps}, {"simulated", Ps}, {"error", Percent}, {"the size was", Text},
		{"algorithm", Text}, {"protocol", Text}, {"before the fit", Ps},
	}}
	number := func(f float64) *float64 { return &f }
	for i := range c.Rows {
		r := &c.Rows[i]
		x := float64(r.Size)
		for _, p := range []*Curve{&measured, &simulated, &before, &off1, &off0} {
			p.X = append(p.X, x)
		}
		measured.Y, simulated.Y = append(measured.Y, number(float64(r.Measured))), append(simulated.Y, number(float64(r.Simulated)))
		off1.Y = append(off1.Y, number(100*r.Error))
		var was, wasOff *float64
		if r.Before > 0 && r.Measured > 0 {
			was, wasOff = number(float64(r.Before)), number(100*(float64(r.Before)/float64(r.Measured)-1))
		}
		before.Y, off0.Y = append(before.Y, was), append(off0.Y, wasOff)
		role := r.Role.String()
		if r.Why != "" {
			role += ": " + r.Why
		}
		rows.add(int64(r.Size), int64(r.Measured), int64(r.Simulated), 100*r.Error, short(role), r.Algorithm, r.Protocol, int64(r.Before))
	}
	times.Series, errors.Series = []Curve{measured, simulated, before}, []Curve{off1, off0}
	d.Charts = []*Chart{times, errors}
	params := &Table{Title: "Parameters", Rows: [][]any{},
		Columns: []Column{{"name", Text}, {"key", Text}, {"unit", Text}, {"before", Number}, {"fitted", Number},
			{"at least", Number}, {"at most", Number}, {"kept because", Text}}}
	for i := range c.Parameters {
		p := &c.Parameters[i]
		cells := []any{p.Name, p.Key, p.Unit, p.Base, p.Fitted, nil, nil, p.Kept}
		if p.Low != nil {
			cells[5] = *p.Low
		}
		if p.High != nil {
			cells[6] = *p.High
		}
		params.add(cells...)
	}
	d.Tables = []*Table{params, rows}
	for _, n := range append(append([]string{}, c.Findings...), c.Notes...) {
		d.Notes = append(d.Notes, short(n))
	}
	return d
}
