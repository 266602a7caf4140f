package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kernbench/lab/perf"
	"kernbench/lab/sweep"
	"kernbench/plot"
)

// perfPoint is a row in a figure, by its deciding placement, in ns and GB/s.
type perfPoint struct {
	row                *perf.Row
	time, algbw, busbw float64
}

// pointOf returns the point of a row, and false if it did not end, has no time, or is wrong.
func pointOf(r *perf.Row) (perfPoint, bool) {
	p := r.Deciding()
	if p == nil || p.Time <= 0 {
		return perfPoint{}, false
	}
	return perfPoint{r, p.Time.Ns(), p.AlgBW, p.BusBW}, true
}

// PerfFigure draws a sweep: time, algbw and busbw over sizes, or over ranks if those vary and the
// size does not. A row that was measured in place is drawn in place.
func PerfFigure(s *perf.Sweep) *plot.Figure {
	var points []perfPoint
	left := 0
	for i := range s.Rows {
		if p, ok := pointOf(&s.Rows[i]); ok {
			points = append(points, p)
		} else {
			left++
		}
	}
	overRanks := varies(points, func(r *perf.Row) string { return strconv.Itoa(r.Ranks) }) &&
		!varies(points, func(r *perf.Row) string { return strconv.Itoa(int(r.Size)) })
	f := &plot.Figure{About: aboutFigure(s.MadeBy, s.Machine)}
	name := perfNames(points, overRanks, true)
	title := []string{s.Collective}
	for _, part := range perfParts(overRanks) {
		if len(points) > 0 && !varies(points, part) && part(points[0].row) != "" {
			title = append(title, part(points[0].row))
		}
	}
	x := func(r *perf.Row) float64 { return float64(r.Size) }
	f.X = plot.Axis{Name: "size", Scale: plot.Log2, Label: plot.Bytes}
	if overRanks {
		title = append(title, points[0].row.Size.String())
		x = func(r *perf.Row) float64 { return float64(r.Ranks) }
		f.X = plot.Axis{Name: "ranks", Scale: plot.Log2, Ticks: rankTicks(points)}
	}
	f.Title = strings.Join(title, ", ")
	f.Notes = []string{s.Machine + " (" + strings.TrimSuffix(s.Executor+", fidelity "+s.Fidelity, ", fidelity ") + ")"}
	if left > 0 {
		f.Notes = append(f.Notes, plural(int64(left), "row is", "rows are")+" left out: not measured, or wrong")
	}
	slices.SortStableFunc(points, func(a, b perfPoint) int { return cmp.Compare(x(a.row), x(b.row)) })
	var time, algbw, busbw curves
	for _, p := range points {
		n := name(p.row)
		time.add(n, plot.Computed, x(p.row), p.time)
		algbw.add(n, plot.Computed, x(p.row), p.algbw)
		busbw.add(n, plot.Computed, x(p.row), p.busbw)
	}
	addBounds(points, x, overRanks, &time, &algbw, &busbw)
	f.Panel = []plot.Panel{timeOf.panel(time.all), algbwOf.panel(algbw.all), busbwOf.panel(busbw.all)}
	return f
}

// addBounds adds the limits of the hardware, which are those of all algorithms. For a single curve
// it also adds the limit with its rings as they are configured.
func addBounds(points []perfPoint, x func(*perf.Row) float64, overRanks bool, time, algbw, busbw *curves) {
	single := len(time.all) == 1
	which := perfNames(points, overRanks, false)
	several := varies(points, which)
	known := map[string]bool{}
	for _, p := range points {
		b := p.row.Bound
		if b == nil {
			continue
		}
		add := func(name string, us *float64) {
			if us == nil || *us <= 0 {
				return
			}
			if w := which(p.row); several && w != "" {
				name += ", " + w
			}
			key := fmt.Sprint(name, x(p.row))
			if known[key] {
				return
			}
			known[key] = true
			ns, faster := *us*1e3, p.time/(*us*1e3)
			time.add(name, plot.Bound, x(p.row), ns)
			algbw.add(name, plot.Bound, x(p.row), p.algbw*faster)
			busbw.add(name, plot.Bound, x(p.row), p.busbw*faster)
		}
		add(boundName, b.HardwareUs)
		if single {
			add("bound as configured", b.Us)
		}
	}
}

// perfParts returns the properties in which rows may differ, other than algorithm, settings and the
// x axis.
func perfParts(overRanks bool) []func(*perf.Row) string {
	parts := []func(*perf.Row) string{
		func(r *perf.Row) string { return plural(int64(r.Ranks), "rank", "ranks") },
		func(r *perf.Row) string { return r.Type },
		func(r *perf.Row) string { return strings.TrimPrefix(r.RedOp, "none") },
		func(r *perf.Row) string {
			if r.Root < 0 {
				return ""
			}
			return "root " + strconv.Itoa(r.Root)
		},
	}
	if overRanks {
		return parts[1:]
	}
	return parts
}

// perfNames names curves by algorithm and settings, if requested, and by the other properties that
// vary.
func perfNames(points []perfPoint, overRanks, algorithm bool) func(*perf.Row) string {
	var parts []func(*perf.Row) string
	if algorithm {
		parts = append(parts, func(r *perf.Row) string { return sweep.Named(r.Algorithm, r.Settings) })
	}
	for _, part := range perfParts(overRanks) {
		if varies(points, part) {
			parts = append(parts, part)
		}
	}
	return func(r *perf.Row) string {
		var all []string
		for _, part := range parts {
			if text := part(r); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, ", ")
	}
}

// varies reports whether a property of rows has several values.
func varies(points []perfPoint, of func(*perf.Row) string) bool {
	for _, p := range points {
		if of(p.row) != of(points[0].row) {
			return true
		}
	}
	return false
}

// rankTicks lists the numbers of ranks of points.
func rankTicks(points []perfPoint) []float64 {
	var all []float64
	for _, p := range points {
		all = append(all, float64(p.row.Ranks))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
