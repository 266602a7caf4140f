package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// Sweep makes the document of a sweep of sizes or ranks: what is wrong, the fastest of each size,
// curves, and all rows.
func Sweep(s *perf.Sweep) *Document {
	d := New(fmt.Sprintf("%s over %s", s.Collective, overWhat(s)), s.MadeBy)
	v := run.Verdict{Question: "results", State: run.NotChecked, Detail: "add -c 1, or raise --mem"}
	switch {
	case s.Wrong > 0:
		v.State, v.Detail = run.Failed, fmt.Sprintf("%d elements are wrong", s.Wrong)
	case s.Checked:
		v.State, v.Detail = run.Checked, "by provenance and by value; rows with too much data are timed only"
	}
	failed := 0
	for i := range s.Rows {
		for _, p := range s.Rows[i].Placements() {
			if p.Error != "" {
				failed++
			}
		}
	}
	ends := run.Verdict{Question: "ends", State: run.Checked, Detail: fmt.Sprintf("all of %d rows came to their end", len(s.Rows))}
	if failed > 0 || len(s.Rows) < s.Planned {
		ends.State, ends.Detail = run.Failed,
			fmt.Sprintf("%d measurements did not end; %d of %d rows exist", failed, len(s.Rows), s.Planned)
	}
	d.Verdicts = []run.Verdict{v, ends}
	d.fact("machine", s.Machine)
	d.fact("executor", strings.TrimSpace(s.Executor+" "+s.Fidelity))
	if s.Ranks > 0 {
		d.fact("ranks", fmt.Sprint(s.Ranks))
	}
	d.fact("sizes", fmt.Sprintf("%v to %v", s.Min, s.Max))
	d.fact("algorithms", strings.Join(s.Algorithms, ", "))
	d.fact("average busbw", gbs(s.AvgBusBW))
	for _, n := range s.Notes {
		d.Notes = append(d.Notes, short(n))
	}
	best := bestRows(s)
	d.Tables = append(d.Tables, best)
	d.Charts = sweepCharts(s)
	d.Tables = append(d.Tables, sweepRows(s))
	return d
}

func (d *Document) fact(name, text string) {
	if text != "" {
		d.Facts = append(d.Facts, Fact{name, short(text)})
	}
}

// overRanks reports whether the curves of a sweep are over ranks: their numbers differ, and sizes
// do not.
func overRanks(s *perf.Sweep) bool {
	sizes, ranks := map[any]bool{}, map[any]bool{}
	for i := range s.Rows {
		sizes[s.Rows[i].Size], ranks[s.Rows[i].Ranks] = true, true
	}
	return len(ranks) > 1 && len(sizes) == 1
}

func overWhat(s *perf.Sweep) string {
	if overRanks(s) {
		return "ranks"
	}
	return "sizes"
}

// settingsText returns what varies, in words.
func settingsText(all []sweep.Setting) string {
	var words []string
	for _, s := range all {
		words = append(words, s.Key+"="+s.Value)
	}
	return strings.Join(words, " ")
}

// curveName returns the curve of a row's point.
func curveName(s *perf.Sweep, r *perf.Row) string {
	words := []string{r.Algorithm}
	if t := settingsText(r.Settings); t != "" {
		words = append(words, t)
	}
	differs := func(of func(r *perf.Row) string) {
		for i := range s.Rows {
			if of(&s.Rows[i]) != of(&s.Rows[0]) {
				words = append(words, of(r))
				return
			}
		}
	}
	differs(func(r *perf.Row) string { return r.Type })
	differs(func(r *perf.Row) string { return r.RedOp })
	differs(func(r *perf.Row) string { return fmt.Sprintf("root %d", r.Root) })
	if !overRanks(s) {
		differs(func(r *perf.Row) string { return fmt.Sprintf("%d ranks", r.Ranks) })
	}
	return strings.Join(words, ", ")
}

// measured returns the placement of a row that its curves show; nil: the row has no time, or is
// wrong. Times of placements have the launch in software in them.
func measured(r *perf.Row) *sweep.Placement {
	if p := r.Deciding(); p != nil && p.Time > 0 {
		return p
	}
	return nil
}

// maxCurves bounds what one chart has.
const maxCurves = 60

func sweepCharts(s *perf.Sweep) []*Chart {
	x := Column{"size", Bytes}
	if overRanks(s) {
		x = Column{"ranks", Count}
	}
	charts := []*Chart{
		{Title: "Time", X: x, Y: Column{"simulated time", Ps}},
		{Title: "Bus bandwidth", X: x, Y: Column{"busbw", GBs}},
		{Title: "Algorithm bandwidth", X: x, Y: Column{"algbw", GBs}},
	}
	at := map[string]int{}
	var names []string
	points := map[string]map[float64][3]float64{}
	bound := map[float64][3]float64{} // as points
	for i := range s.Rows {
		r := &s.Rows[i]
		p := measured(r)
		if p == nil {
			continue
		}
		at0 := float64(r.Size)
		if overRanks(s) {
			at0 = float64(r.Ranks)
		}
		took := float64(p.Time)
		if r.Bound != nil && r.HardwareUs != nil && *r.HardwareUs > 0 {
			least := *r.HardwareUs * 1e6
			bound[at0] = [3]float64{least, p.BusBW * took / least, p.AlgBW * took / least}
		}
		name := curveName(s, r)
		if _, ok := at[name]; !ok {
			if len(names) == maxCurves {
				continue
			}
			at[name] = len(names)
			names = append(names, name)
			points[name] = map[float64][3]float64{}
		}
		points[name][at0] = [3]float64{took, p.BusBW, p.AlgBW}
	}
	var xs []float64
	for _, all := range points {
		for v := range all {
			if !slices.Contains(xs, v) {
				xs = append(xs, v)
			}
		}
	}
	slices.Sort(xs)
	for _, name := range names {
		for k, c := range charts {
			c.Series = append(c.Series, curveOf(name, xs, points[name], k))
		}
	}
	if len(bound) > 0 {
		for k, c := range charts {
			c.Series = append(c.Series, curveOf("bound of the machine", xs, bound, k))
			c.Series[len(c.Series)-1].Bound = true
		}
	}
	return charts
}

// curveOf makes a curve of one property of points.
func curveOf(name string, xs []float64, points map[float64][3]float64, k int) Curve {
	c := Curve{Name: name, X: xs}
	for _, x := range xs {
		var y *float64
		if all, ok := points[x]; ok && all[k] > 0 {
			y = &all[k]
		}
		c.Y = append(c.Y, y)
	}
	return c
}

// bestRows returns the fastest row of each call.
func bestRows(s *perf.Sweep) *Table {
	t := &Table{Title: "Fastest", Rows: [][]any{}, Columns: []Column{
		{"size", Bytes}, {"ranks", Count}, {"type", Text}, {"algorithm", Text}, {"settings", Text}, {"time", Ps},
		{"busbw", GBs}, {"of the bound", Percent}, {"next best", Text}, {"is slower by", Percent},
	}}
	type call struct {
		size        int64
		ranks, root int
		typ, op     string
	}
	groups := map[call][]*perf.Row{}
	var order []call
	for i := range s.Rows {
		r := &s.Rows[i]
		if measured(r) == nil {
			continue
		}
		k := call{int64(r.Size), r.Ranks, r.Root, r.Type, r.RedOp}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	took := func(r *perf.Row) float64 { return float64(measured(r).Time) }
	for _, k := range order {
		rows := groups[k]
		slices.SortStableFunc(rows, func(a, b *perf.Row) int { return cmp.Compare(took(a), took(b)) })
		first := rows[0]
		var share, next, slower any
		if first.Bound != nil && first.HardwareFraction != nil {
			share = 100 * *first.HardwareFraction
		}
		if i := slices.IndexFunc(rows, func(r *perf.Row) bool { return r.Algorithm != first.Algorithm }); i >= 0 {
			next = rows[i].Algorithm
			if took(first) > 0 {
				slower = 100 * (took(rows[i])/took(first) - 1)
			}
		}
		t.add(k.size, k.ranks, k.typ, first.Algorithm, settingsText(first.Settings), took(first),
			measured(first).BusBW, share, next, slower)
	}
	return t
}

func (t *Table) add(cells ...any) {
	if len(t.Rows) < maxTableRows {
		t.Rows = append(t.Rows, cells)
	}
}

func sweepRows(s *perf.Sweep) *Table {
	t := &Table{Title: "All rows", Rows: [][]any{}, Columns: []Column{
		{"size", Bytes}, {"ranks", Count}, {"type", Text}, {"reduction", Text}, {"root", Text}, {"algorithm", Text}, {"settings", Text},
		{"time", Ps}, {"algbw", GBs}, {"busbw", GBs}, {"wrong", Count}, {"in place", Ps}, {"bound", Ps}, {"note", Text},
	}}
	for i := range s.Rows {
		r := &s.Rows[i]
		root := any("–")
		if r.Root >= 0 {
			root = fmt.Sprint(r.Root)
		}
		cells := []any{int64(r.Size), r.Ranks, r.Type, r.RedOp, root, r.Algorithm, settingsText(r.Settings), nil, nil,
			nil, nil, nil, nil, short(r.Note)}
		if p := r.OutOfPlace; p != nil && p.Error == "" {
			cells[7], cells[8], cells[9] = float64(p.Time), p.AlgBW, p.BusBW
			if p.Wrong != nil {
				cells[10] = *p.Wrong
			}
		}
		if p := r.InPlace; p != nil && p.Error == "" {
			cells[11] = float64(p.Time)
		}
		if r.Bound != nil && r.HardwareUs != nil {
			cells[12] = *r.HardwareUs * 1e6
		}
		for _, p := range r.Placements() {
			if p.Error != "" {
				cells[13] = short(p.Error)
			}
		}
		t.add(cells...)
	}
	return t
}
