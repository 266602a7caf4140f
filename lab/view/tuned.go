package view

import (
	"fmt"
	"strings"

	"kernbench/lab/run"
	"kernbench/lab/tune"
)

// Tuned makes the document of a tuning: for each call the fastest choice of each size.
func Tuned(t *tune.Tuned) *Document {
	d := New(titleOf(t.Groups), t.MadeBy)
	v := run.Verdict{Question: "algorithms", State: run.Checked, Detail: "each was checked by provenance and by value before it was timed"}
	if len(t.Wrong) > 0 {
		v.State, v.Detail = run.Failed, short(strings.Join(t.Wrong, "; "))
	}
	d.Verdicts = []run.Verdict{v}
	d.fact("points", fmt.Sprintf("%d: %d from the database, %d simulated runs, %d estimated, %d failed", t.Points,
		t.Found, t.Simulated, t.Estimated, t.Failed))
	for _, n := range t.Notes {
		d.Notes = append(d.Notes, short(n))
	}
	d.groups(t.Groups)
	return d
}

// titleOf names the calls that were tuned.
func titleOf(groups []*tune.Group) string {
	if len(groups) == 1 {
		return "tuning of " + nameOf(groups[0])
	}
	return fmt.Sprintf("tuning of %d calls", len(groups))
}

// nameOf names a call, such as all_reduce of 8 ranks, f32 sum on dgx-h100.
func nameOf(g *tune.Group) string {
	name := fmt.Sprintf("%s of %d ranks, %s", g.Collective, g.Ranks, g.Type)
	if g.Op != "" && g.Op != "none" {
		name += " " + g.Op
	}
	if g.Topology != "" {
		name += " on " + g.Topology
	}
	return name
}

// RunPoints makes the document of a run of kernbench tune that a database has.
func RunPoints(p *tune.RunPoints, by run.MadeBy) *Document {
	groups := p.Best()
	d := New(fmt.Sprintf("%s, run %d of a database", titleOf(groups), p.Run.ID), by)
	d.fact("command", p.Run.Command)
	d.fact("started", p.Run.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	finished := "it did not come to its end, or is still under way"
	if !p.Run.Finished.IsZero() {
		finished = p.Run.Finished.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	d.fact("finished", finished)
	d.fact("points", fmt.Sprint(len(p.Points)))
	d.groups(groups)
	return d
}

// maxGroups bounds the calls of a document.
const maxGroups = 40

func (d *Document) groups(groups []*tune.Group) {
	if len(groups) > maxGroups {
		d.Notes = append(d.Notes, fmt.Sprintf("%d of %d calls are shown: choose fewer machines, ranks or types", maxGroups, len(groups)))
		groups = groups[:maxGroups]
	}
	for _, g := range groups {
		name := nameOf(g)
		c := &Chart{Title: name, X: Column{"size", Bytes}, Y: Column{"simulated time", Ps}}
		best, next, plain := Curve{Name: "best"}, Curve{Name: "best of another algorithm"}, Curve{Name: "best as configured"}
		bound := Curve{Name: "bound of the machine", Bound: true}
		bounded := false
		rows := &Table{Title: name + ": fastest", Rows: [][]any{}, Columns: []Column{
			{"size", Bytes}, {"algorithm", Text}, {"settings", Text}, {"time", Ps}, {"next algorithm", Text},
			{"its time", Ps}, {"as configured", Ps}, {"points", Count},
		}}
		for i := range g.Rows {
			r := &g.Rows[i]
			cells := []any{int64(r.Size), nil, nil, nil, nil, nil, nil, r.Points}
			var least *float64
			if p := r.Best; p != nil && p.Bound != nil && p.Bound.Hardware > 0 {
				y := float64(p.Bound.Hardware)
				least, bounded = &y, true
			}
			bound.X, bound.Y = append(bound.X, float64(r.Size)), append(bound.Y, least)
			for k, p := range []*tune.Point{r.Best, r.RunnerUp, r.Configured} {
				curve := []*Curve{&best, &next, &plain}[k]
				curve.X = append(curve.X, float64(r.Size))
				if p == nil || p.Time <= 0 {
					curve.Y = append(curve.Y, nil)
					continue
				}
				y := float64(p.Time)
				curve.Y = append(curve.Y, &y)
				switch k {
				case 0:
					cells[1], cells[2], cells[3] = p.Algorithm, p.Settings, y
				case 1:
					cells[4], cells[5] = p.Algorithm, y
				case 2:
					cells[6] = y
				}
			}
			rows.add(cells...)
		}
		c.Series = []Curve{best, next, plain}
		if bounded {
			c.Series = append(c.Series, bound)
		}
		ranges := &Table{Title: name + ": choice by size", Rows: [][]any{},
			Columns: []Column{{"from", Bytes}, {"to", Bytes}, {"algorithm", Text}, {"settings", Text},
				{"lost between sizes at most", Percent}}}
		for _, r := range g.Ranges {
			to, regret := any(int64(r.To)), any(nil)
			if r.To == 0 {
				to = "and more"
			}
			if r.Regret != nil {
				regret = 100 * *r.Regret
			}
			ranges.add(int64(r.From), to, r.Algorithm, r.Settings, regret)
		}
		d.Charts = append(d.Charts, c)
		d.Tables = append(d.Tables, ranges, rows)
	}
}
