package report

import (
	"path/filepath"
	"strconv"

	"kernbench/lab/calibrate"
	"kernbench/plot"
	"kernbench/unit"
)

// percents labels an axis of errors in percent.
func percents(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + " %" }

// timesAndErrors returns a figure of times over sizes, with their errors below.
func timesAndErrors(times, errors []plot.Curve) *plot.Figure {
	return &plot.Figure{
		X: plot.Axis{Name: "size", Scale: plot.Log2, Label: plot.Bytes},
		Panel: []plot.Panel{
			{Title: "time", Y: plot.Axis{Scale: plot.Log10, Label: plot.Nanoseconds}, Curves: times},
			{Title: "error: simulated / measured - 1", Y: plot.Axis{Scale: plot.Linear, Label: percents}, Curves: errors},
		},
	}
}

// CalibrationFigure draws simulated next to measured times. Errors are grouped by whether the fit
// used the size.
func CalibrationFigure(c *calibrate.Calibration) *plot.Figure {
	var times, errors curves
	for i := range c.Rows {
		r := &c.Rows[i]
		x := float64(r.Size)
		times.add("simulated", plot.Computed, x, r.Simulated.Ns())
		times.add("measured", plot.Reference, x, r.Measured.Ns())
		errors.add("error of sizes "+r.Role.String(), plot.Computed, x, 100*r.Error)
	}
	f := timesAndErrors(times.all, errors.all)
	f.Title = c.Collective + ", " + plural(int64(c.Ranks), "rank", "ranks") + ", " + c.Type + ": fitted to " + filepath.Base(c.File)
	f.Notes = []string{c.Topology + ": " + c.Machine + ", fidelity " + c.Fidelity}
	f.About = aboutFigure(c.MadeBy, c.Machine)
	return f
}

// ScoreFigure draws the times of a machine and those of tables, and the errors. Where
// NCCL has a model of the machine, its times and errors are drawn too.
func ScoreFigure(s *calibrate.Score) *plot.Figure {
	var times, errors curves
	for i := range s.Tables {
		t := &s.Tables[i]
		of := ""
		if len(s.Tables) > 1 {
			of = ", " + filepath.Base(t.File)
		}
		for k := range t.Rows {
			r := &t.Rows[k]
			add := func(name string, role plot.Role, at unit.Time) {
				times.add(name+of, role, float64(r.Size), at.Ns())
			}
			add("simulated", plot.Computed, r.Simulated)
			errors.add("simulated"+of, plot.Computed, float64(r.Size), 100*r.Error)
			if r.NCCL != nil {
				add("NCCL's own model", plot.Computed, r.NCCL.Time)
				errors.add("NCCL's own model"+of, plot.Computed, float64(r.Size), 100*r.NCCL.Error)
			}
			add("measured", plot.Reference, r.Measured)
		}
	}
	f := timesAndErrors(times.all, errors.all)
	f.Title = s.Topology + " beside measured tables"
	if len(s.Tables) == 1 {
		t := &s.Tables[0]
		f.Title = t.Collective + ", " + plural(int64(t.Ranks), "rank",
			"ranks") + ", " + t.Type + ": " + s.Topology + " beside " + filepath.Base(t.File)
	}
	f.Notes = []string{s.Machine + ", fidelity " + s.Fidelity}
	f.About = aboutFigure(s.MadeBy, s.Machine)
	return f
}
