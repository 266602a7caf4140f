package calibrate

import (
	"context"
	"math"
	"slices"

	"kernbench/lab/calibrate/fit"
)

// fitPoint is a set of values, and what the simulator makes of them.
type fitPoint struct {
	values  []float64
	free    []int        // parameters, by their places
	rows    []int        // of the table
	near    [][]int      // by row: the programs of the problem's rows
	problem *fit.Problem // near the values
	loss    float64
}

// limit lets a fit go so far from the values, as a factor.
func (p *fitPoint) limit(factor float64) {
	for f := range p.problem.Params {
		q := &p.problem.Params[f]
		q.Min, q.Max = max(1e-3, q.At/factor), max(2e-3, q.At*factor)
	}
}

// A fit begins with steps of at most a factor, and ends when no value moves by more than is
// settled, when steps become too short, or after so many rounds.
const (
	firstStep    = 4
	settled      = 0.003
	shortestStep = 1.1
	mostRounds   = 10
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
// nothing moves: what is small in the end is the error of the simulator. Planes hold only so far:
// where a step makes it larger, a shorter one is taken.
//
// A parameter that the table does not tell goes back to the machine's own value, and the others are
// fitted anew: of two that are known together only, one has its source's value then.
func (c *calibration) fit(ctx context.Context) error {
	rows := c.rowsOf(ToFit)
	values, err := c.first(ctx, rows)
	for err == nil {
		if err = c.fitFrom(ctx, rows, values); err != nil {
			break
		}
		c.settle()
		i := c.untold()
		if i < 0 {
			break
		}
		c.params[i].kept = "the table does not tell it"
		values = c.best.values
		values[i] = c.params[i].base
		c.best, c.ranges = nil, map[int][2]float64{}
	}
	return err
}

// untold is a parameter that could be any value, as far as the table tells: of several the last, as
// those of what happens most often come first. The start and the rates are never given back. -1:
// there is none.
func (c *calibration) untold() int {
	for i := len(c.params) - 1; i >= 0; i-- {
		m := &c.params[i]
		r, fitted := c.ranges[i]
		if fitted && m.kept == "" && !m.rate && m.name != paramLaunch && r[0] <= 0 && math.IsInf(r[1], 1) {
			return i
		}
	}
	return -1
}

// fitFrom is fit of the parameters that are free.
func (c *calibration) fitFrom(ctx context.Context, rows []int, values []float64) error {
	var free []int
	for i := range c.params {
		if c.params[i].kept == "" {
			free = append(free, i)
		}
	}
	step := float64(firstStep)
	for round := 0; round < mostRounds && step > shortestStep; round++ {
		c.result.Rounds++
		now, err := c.look(ctx, values, rows, free)
		if err != nil {
			return err
		}
		switch {
		case c.best == nil || now.loss < c.best.loss:
			if err := c.incline(ctx, now); err != nil {
				return err
			}
			c.best = now
		default:
			step = math.Sqrt(step)
		}
		c.best.limit(step)
		next := c.best.problem.Fit()
		values = slices.Clone(c.best.values)
		for f, i := range free {
			values[i] = rounded(max(1e-3, next[f]))
		}
		if apart(values, c.best.values) < settled {
			break
		}
	}
	return nil
}

// settle finds the range of each value, and restores the values without an effect.
func (c *calibration) settle() {
	b := c.best
	b.limit(1e3)
	fitted := pick(b.values, b.free)
	for f, i := range b.free {
		if !b.problem.Depends(f) {
			c.params[i].kept = "no time depends on it"
			b.values[i] = c.params[i].base
			continue
		}
		low, high := b.problem.Range(fitted, f)
		c.ranges[i] = [2]float64{low, high}
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

// first returns the initial values: the machine's own, else the usual ones. The start of a
// collective is the rest of the smallest size's time.
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
	best, which := math.Inf(1), -1
	for k := range c.programs {
		if t := c.time(values, k, row); t < best {
			best, which = t, k
		}
	}
	return best, which
}

// parameters are what came out, with how far each could be off.
func (c *calibration) parameters() []FittedParameter {
	var all []FittedParameter
	for i := range c.params {
		m := &c.params[i]
		p := FittedParameter{Name: m.name, Key: m.keys[0], Unit: m.unit(), Base: m.base, Fitted: c.best.values[i], Kept: m.kept, param: *m}
		if r, fitted := c.ranges[i]; fitted && m.kept == "" {
			if r[0] > 0 {
				p.Low = &r[0]
			}
			if !math.IsInf(r[1], 1) {
				p.High = &r[1]
			}
		}
		all = append(all, p)
	}
	return all
}
