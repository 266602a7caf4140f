package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kernbench/lab/calibrate/fit"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// Joint is the result of a fit to several tables of one machine, which share all but the starts of
// collectives.
type Joint struct {
	Tables     []*Calibration    `json:"tables"`
	Parameters []FittedParameter `json:"parameters"`
	LeftOut    []LeftOut         `json:"left_out"` // one for each table, if there are several
	MadeBy     run.MadeBy        `json:"made_by"`
}

// LeftOut is the error on a table of a machine that was fitted to all other tables.
type LeftOut struct {
	File string `json:"file"`
	Deviation
	Bands []ScoreBand `json:"bands"` // all sizes first
}

// RunTables fits one machine to several tables. Each is then left out of a further fit, and held
// against its result. The error is a mistake in the spec or a table, or the interruption by ctx.
func RunTables(ctx context.Context, s Spec, files []string) (*Joint, error) {
	var all []*calibration
	for i, file := range files {
		one := s
		one.File = file
		c, err := planTable(ctx, &one)
		if err != nil {
			return nil, err
		}
		if err := c.split(); err != nil {
			return nil, err
		}
		for k, other := range all {
			if o := other.result; o.Collective == c.result.Collective && o.Ranks == c.result.Ranks && o.Type == c.result.Type {
				return nil, fmt.Errorf("%s and %s both have %s of %d ranks, %s: put their rows into one table", files[k], files[i],
					o.Collective, o.Ranks, o.Type)
			}
		}
		all = append(all, c)
	}
	f, err := fitTables(ctx, all)
	if err != nil {
		return nil, err
	}
	j := &Joint{Parameters: f.parameters(), LeftOut: []LeftOut{}, MadeBy: all[0].result.MadeBy}
	for _, c := range all {
		c.result.Parameters = j.Parameters
		if f.note != "" {
			c.note("%s", f.note)
		}
		if err := c.conclude(ctx, f.base(), f.best.values); err != nil {
			return nil, err
		}
		j.Tables = append(j.Tables, c.result)
	}
	if len(all) < 2 {
		return j, nil
	}
	for i, c := range all {
		one, err := leaveOut(ctx, all, i)
		if err != nil {
			return nil, err
		}
		one.File = c.result.File
		j.LeftOut = append(j.LeftOut, *one)
	}
	return j, nil
}

// fitTables fits the parameters to tables.
func fitTables(ctx context.Context, tables []*calibration) (*fitter, error) {
	var collectives []string
	for _, c := range tables {
		if !slices.Contains(collectives, c.what.Name) {
			collectives = append(collectives, c.what.Name)
		}
	}
	f := &fitter{tables: tables, ranges: map[int][2]float64{}}
	for _, c := range tables {
		if err := c.findParams(collectives...); err != nil {
			return nil, err
		}
	}
	f.params = tables[0].params
	if !slices.ContainsFunc(f.params, func(p modelParam) bool { return p.kept == "" }) {
		return nil, errors.New("all parameters are kept: nothing is left to fit")
	}
	for _, c := range tables {
		c.params = f.params // what is kept is known to all
	}
	return f, f.fit(ctx)
}

// leaveOut fits all tables but one, and returns how far the machine is off on that. Its collective
// starts as the machine says for it, or as the first of the other tables.
func leaveOut(ctx context.Context, all []*calibration, left int) (*LeftOut, error) {
	others := slices.Delete(slices.Clone(all), left, left+1)
	f, err := fitTables(ctx, others)
	if err != nil {
		return nil, err
	}
	c := all[left]
	c.params = f.params
	c.startParam = max(0, slices.IndexFunc(c.params, func(p modelParam) bool { return p.collective == c.what.Name }))
	values := f.best.values
	if err := c.times(ctx, values, sweep.NumbersBelow(len(c.rows))); err != nil {
		return nil, err
	}
	out := &LeftOut{Bands: c.bands(values)}
	out.Deviation = out.Bands[0].Machine
	return out, nil
}

// bands sums up the errors of all sizes, and of each band, at some values.
func (c *calibration) bands(values []float64) []ScoreBand {
	var rows []ScoreRow
	var points []fit.Point
	for i := range c.rows {
		row := &c.rows[i]
		if t, k := c.fastest(values, i); k >= 0 {
			points = append(points, row.Point)
			rows = append(rows, ScoreRow{Size: row.Size, Error: t/row.Time.Ns() - 1})
		}
	}
	for i, outlier := range fit.Outliers(points) {
		rows[i].Outlier = outlier
	}
	var all []ScoreBand
	for _, b := range scoreBands {
		all = append(all, b.of(rows))
	}
	return all
}
