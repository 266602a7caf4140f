package report

import (
	"kernbench/plot"
	"kernbench/selfbench"
)

// SpeedFigure draws the medians of a measurement of kernbench, with a group of bars for each
// quantity. Marks show what a figure must reach, and its value in a comparison.
func SpeedFigure(t *selfbench.Table) *plot.Bars {
	b := &plot.Bars{Title: "kernbench itself", Notes: []string{whereAndWhen(&t.Origin)}, About: aboutFigure(t.MadeBy, t.Machine.CPU)}
	at := map[string]int{}
	for i := range t.Rows {
		for k := range t.Rows[i].Figures {
			f := &t.Rows[i].Figures[k]
			if len(f.Values) == 0 || f.Unit == selfbench.Times {
				continue
			}
			key := f.What + string(f.Unit)
			g, known := at[key]
			if !known {
				g = len(b.Group)
				at[key] = g
				b.Group = append(b.Group, plot.BarGroup{Title: f.What, Label: func(v float64) string { return amount(f.Unit, v) }})
			}
			bar := plot.Bar{Name: t.Rows[i].Name, Value: f.Median, Label: amount(f.Unit, f.Median)}
			if f.Must != nil {
				bar.Label += ", must be " + f.Must.Is + " " + amount(f.Unit, f.Must.Value)
				bar.Limit = f.Must.Value
			}
			b.Group[g].Bars = append(b.Group[g].Bars, bar)
			if f.Was != nil {
				b.Group[g].Bars = append(b.Group[g].Bars, plot.Bar{Name: t.Rows[i].Name + ", before", Value: *f.Was, Role: plot.Bound})
			}
		}
	}
	return b
}

// GrowthFigure draws how simulating each algorithm grows with the number of ranks.
func GrowthFigure(g *selfbench.Growth) *plot.Figure {
	var time, messages, events curves
	for i := range g.Rows {
		r := &g.Rows[i]
		for _, p := range r.Points {
			x := float64(p.Ranks)
			time.add(r.Algorithm, plot.Computed, x, p.Seconds*1e9)
			messages.add(r.Algorithm, plot.Computed, x, float64(p.Messages))
			events.add(r.Algorithm, plot.Computed, x, float64(p.Events))
		}
	}
	number := plot.Axis{Scale: plot.Log10, Label: func(v float64) string { return count(int64(v)) }}
	return &plot.Figure{
		Title: "simulating each algorithm, " + count(int64(g.Elements)) + " f16 per rank", Notes: []string{whereAndWhen(&g.Origin)},
		X: plot.Axis{Name: "ranks", Scale: plot.Log2},
		Panel: []plot.Panel{
			{Title: "user CPU time", Y: plot.Axis{Scale: plot.Log10, Label: plot.Nanoseconds}, Better: plot.Lower, Curves: time.all},
			{Title: "messages", Y: number, Curves: messages.all},
			{Title: "events", Y: number, Curves: events.all},
		},
		About: aboutFigure(g.MadeBy, g.Machine.CPU),
	}
}
