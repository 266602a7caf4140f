package lab

import (
	"context"
	"errors"
	"math"
	"slices"

	"kernbench/calibrate"
)

// fitPoint is a set of values, and what the simulator makes of them.
type fitPoint struct {
	values  []float64
	free    []int
	problem *calibrate.Problem // near the values
	loss    float64
}

// The fit ends when no value moves by more than this, or after so many rounds.
const (
	settled    = 0.003
	mostRounds = 8
)

// rowsOf lists the rows with any of some roles.
func (c *calibration) rowsOf(roles ...Role) []int {
	var all []int
	for i := range c.rows {
		if slices.Contains(roles, c.rows[i].role) {
			all = append(all, i)
		}
	}
	return all
}

// fit simulates, fits the planes that it finds to the table, and simulates there again, until
// nothing moves: what is small in the end is the error of the simulator. Where a step makes it
// larger, for planes hold only so far, half of it is taken.
func (c *calibration) fit(ctx context.Context) error {
	rows := c.rowsOf(ToFit)
	values, err := c.first(ctx, rows)
	if err != nil {
		return err
	}
	var free []int
	for i := range c.params {
		if c.params[i].kept == "" {
			free = append(free, i)
		}
	}
	for c.result.Rounds = 1; ; c.result.Rounds++ {
		now := &fitPoint{values: values, free: free}
		if now.problem, err = c.planes(ctx, values, rows, free); err != nil {
			return err
		}
		now.loss = now.problem.Loss(pick(values, free))
		if c.best == nil || now.loss < c.best.loss {
			c.best = now
		}
		if c.result.Rounds == mostRounds {
			return nil
		}
		if c.best == now {
			next, err := now.problem.Fit()
			if err != nil {
				return err
			}
			values = slices.Clone(now.values)
			for f, i := range free {
				values[i] = rounded(max(1e-3, next[f]))
			}
		} else {
			for i := range values {
				values[i] = rounded(math.Sqrt(values[i] * c.best.values[i]))
			}
		}
		if apart(values, c.best.values) < settled {
			return nil
		}
	}
}

// pick takes some values out of all.
func pick(values []float64, which []int) []float64 {
	var some []float64
	for _, i := range which {
		some = append(some, values[i])
	}
	return some
}

// apart is the largest distance of two sets of values, as a factor about.
func apart(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		if a[i] != b[i] {
			most = max(most, math.Abs(math.Log(a[i]/b[i])))
		}
	}
	return most
}

// first are the values to begin with: the machine's own, and where it has none what is usual. The
// start of a collective is what is left of the smallest size.
func (c *calibration) first(ctx context.Context, rows []int) ([]float64, error) {
	values := make([]float64, len(c.params))
	for i := range c.params {
		p := &c.params[i]
		if values[i] = rounded(p.base); values[i] > 0 || p.kept != "" {
			continue
		}
		const usualHop, usualOverhead = 500, 50 // ns
		switch p.name {
		case paramMessage:
			values[i] = usualOverhead
		case paramLaunch:
			values[i] = 1e-3
		default:
			values[i] = usualHop
		}
	}
	for i := range c.params {
		if c.params[i].name != paramLaunch || c.params[i].base > 0 || c.params[i].kept != "" {
			continue
		}
		if err := c.times(ctx, values, rows[:1]); err != nil {
			return nil, err
		}
		left := c.rows[rows[0]].Time.Ns()
		if t, _ := c.fastest(values, rows[0]); t < left {
			left -= t
		}
		values[i] = rounded(left)
	}
	return values, nil
}

// fastest is the program that is at a row, and its time; -1 if none can run.
func (c *calibration) fastest(values []float64, row int) (float64, int) {
	id := c.id(values)
	best, which := math.Inf(1), -1
	for k := range c.programs {
		if t := c.time(id, k, row); t < best {
			best, which = t, k
		}
	}
	return best, which
}

// ranges finds out how far each value could be off, and puts those back of which the table says
// nothing at all.
func (c *calibration) ranges() error {
	b := c.best
	fitted := pick(b.values, b.free)
	for i := range c.params {
		m := &c.params[i]
		p := FittedParameter{Name: m.name, Key: m.keys[0], Unit: m.unit(), Base: m.base, Fitted: b.values[i], Kept: m.kept, param: *m}
		if m.kept != "" {
			p.Fitted = m.base
		} else if err := c.rangeOf(&p, fitted, slices.Index(b.free, i)); err != nil {
			return err
		}
		b.values[i] = p.Fitted
		c.result.Parameters = append(c.result.Parameters, p)
	}
	return nil
}

func (c *calibration) rangeOf(p *FittedParameter, fitted []float64, f int) error {
	low, high, err := c.best.problem.Range(fitted, f)
	if err != nil {
		return err
	}
	if low > 0 {
		p.Low = &low
	}
	if !math.IsInf(high, 1) {
		p.High = &high
	}
	if p.Low == nil && p.High == nil {
		p.Fitted, p.Kept = p.Base, "the table says nothing about it"
	}
	return nil
}

// isInternal tells of an error that is a defect of kernbench.
func isInternal(err error) bool {
	_, ok := errors.AsType[*InternalError](err)
	return ok
}
