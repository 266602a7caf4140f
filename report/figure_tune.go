package report

import (
	"cmp"
	"slices"
	"strings"

	"kernbench/lab/run"
	"kernbench/lab/tune"
	"kernbench/plot"
)

// PointsFigure draws the points of a sweep over sizes, with the bound of the hardware where they
// have one. Points without a time are left out.
func PointsFigure(x *tune.RunPoints, from run.MadeBy) *plot.Figure {
	var points []*tune.Point
	left, estimated := 0, 0
	for i := range x.Points {
		switch p := &x.Points[i]; {
		case p.Error != "" || p.Time <= 0 || p.Size <= 0:
			left++
		default:
			points = append(points, p)
			if p.Estimated {
				estimated++
			}
		}
	}
	slices.SortStableFunc(points, func(a, b *tune.Point) int { return cmp.Compare(a.Size, b.Size) })
	title, name := partsOf(points)
	var time, algbw, busbw curves
	add := func(name string, role plot.Role, p *tune.Point, ns float64) {
		bw := float64(p.Size) / ns
		time.add(name, role, float64(p.Size), ns)
		algbw.add(name, role, float64(p.Size), bw)
		busbw.add(name, role, float64(p.Size), bw*tune.BusFactor(p))
	}
	known := map[string]bool{}
	for _, p := range points {
		group := name(p)
		of := strings.TrimSpace(p.Algorithm + " " + p.Settings)
		bound := boundName
		if group != "" {
			of, bound = of+", "+group, bound+", "+group
		}
		add(of, plot.Computed, p, p.Time.Ns())
		if key := bound + p.Size.String(); p.Bound != nil && p.Bound.Hardware > 0 && !known[key] {
			known[key] = true
			add(bound, plot.Bound, p, p.Bound.Hardware.Ns())
		}
	}
	f := &plot.Figure{
		Title: title, X: plot.Axis{Name: "size", Scale: plot.Log2, Label: plot.Bytes},
		Panel: []plot.Panel{timeOf.panel(time.all), algbwOf.panel(algbw.all), busbwOf.panel(busbw.all)},
	}
	machine := ""
	if len(points) > 0 {
		machine = points[0].Machine
		for _, p := range points {
			if p.Machine != machine {
				machine = "machines that differ"
			}
		}
		f.Notes = append(f.Notes, machine)
	}
	if left > 0 {
		f.Notes = append(f.Notes, plural(int64(left), "point has", "points have")+" no time")
	}
	if estimated > 0 {
		f.Notes = append(f.Notes, plural(int64(estimated), "point is", "points are")+" estimated from smaller sizes")
	}
	f.About = aboutFigure(from, machine)
	return f
}

// partsOf returns the common properties of points. It names points by the properties in which they
// differ, other than algorithm, settings and size.
func partsOf(points []*tune.Point) (common string, name func(*tune.Point) string) {
	var vary []func(*tune.Point) string
	var same []string
	for _, part := range []func(*tune.Point) string{
		func(p *tune.Point) string { return p.Topology },
		func(p *tune.Point) string { return p.Collective },
		func(p *tune.Point) string { return plural(int64(p.Ranks), "rank", "ranks") },
		func(p *tune.Point) string { return p.Type },
		func(p *tune.Point) string { return strings.TrimPrefix(p.Op, "none") },
		func(p *tune.Point) string {
			if p.InPlace {
				return "in place"
			}
			return "out of place"
		},
	} {
		differ := slices.ContainsFunc(points, func(p *tune.Point) bool { return part(p) != part(points[0]) })
		switch {
		case differ:
			vary = append(vary, part)
		case len(points) > 0 && part(points[0]) != "":
			same = append(same, part(points[0]))
		}
	}
	return strings.Join(same, ", "), func(p *tune.Point) string {
		var all []string
		for _, part := range vary {
			if text := part(p); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, ", ")
	}
}
