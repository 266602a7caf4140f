package report

import (
	"cmp"
	"slices"

	"kernbench/lab/compare"
	"kernbench/lab/run"
	"kernbench/plot"
	"kernbench/unit"
)

// ComparisonFigure draws runs of several algorithms or settings, with the hardware bound where it
// is known. It draws them over the bytes of a rank, or as bars if these are the same. Runs that are
// wrong or did not end are left out.
func ComparisonFigure(rows []compare.Row, by run.MadeBy) *plot.Figure {
	type point struct {
		name         string
		bytes        unit.Bytes
		time         unit.Time
		algbw, busbw float64
		bound        unit.Time
	}
	var points []point
	var first *run.Result
	for i := range rows {
		row := &rows[i]
		name := row.Algorithm
		if name == "" {
			name = "buffer_kind=" + row.BufferKind + " backpressure=" + row.Backpressure
		}
		switch r := row.Result; {
		case row.Error != "":
		case row.Program != nil && row.Program.OK:
			points = append(points, point{name, row.Program.Bytes, row.Program.Time, row.Program.AlgBW, row.Program.BusBW, 0})
		case r != nil && r.OK() && r.Timed:
			if first == nil {
				first = r
			}
			points = append(points, point{name, r.BytesPerRank, r.SimulatedTime, r.AlgBW, r.BusBW, row.Bound})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.bytes, b.bytes) })
	var time, algbw, busbw curves
	for _, p := range points {
		x := float64(p.bytes)
		time.add(p.name, plot.Computed, x, p.time.Ns())
		algbw.add(p.name, plot.Computed, x, p.algbw)
		busbw.add(p.name, plot.Computed, x, p.busbw)
	}
	bounded := map[unit.Bytes]bool{}
	for _, p := range points {
		if p.bound <= 0 || bounded[p.bytes] {
			continue
		}
		bounded[p.bytes] = true
		x, faster := float64(p.bytes), p.time.Ns()/p.bound.Ns()
		time.add(boundName, plot.Bound, x, p.bound.Ns())
		algbw.add(boundName, plot.Bound, x, p.algbw*faster)
		busbw.add(boundName, plot.Bound, x, p.busbw*faster)
	}
	f := &plot.Figure{
		Title: "comparison", X: plot.Axis{Name: "bytes of a rank", Scale: plot.Log2, Label: plot.Bytes},
		Panel: []plot.Panel{timeOf.panel(time.all), algbwOf.panel(algbw.all), busbwOf.panel(busbw.all)},
	}
	machine := ""
	if first != nil {
		machine = first.Machine
		f.Title = first.Collective + ", " + plural(int64(first.WorldSize), "rank", "ranks") + ", " + first.DType
		f.Notes = append(f.Notes, machine+" ("+first.Executor+")")
		by.Machines = first.MadeBy.Machines
	}
	if left := len(rows) - len(points); left > 0 {
		f.Notes = append(f.Notes, plural(int64(left), "run is", "runs are")+" left out: without a time, or wrong")
	}
	f.About = aboutFigure(by, machine)
	return f
}
