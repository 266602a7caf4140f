package calibrate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kernbench/lab/calibrate/fit"
)

// fitter fits the parameters of a machine to tables, which share all but the starts of collectives.
type fitter struct {
	tables []*calibration
	params []modelParam
	best   *fitPoint
	ranges map[int][2]float64 // by parameter
	rounds int

	note     string  // what the reader should know
	together bool    // all latencies change by one factor
	rest     float64 // of a hop, without the latency of its protocol, on the unfitted machine; ns
}

// fitPoint is a set of values, and what the simulator makes of them.
type fitPoint struct {
	values  []float64
	free    []int        // parameters, by their places
	near    []nearRow    // the problem's rows
	problem *fit.Problem // near the values
	loss    float64
}

// nearRow is a row of a table, with the programs that are near its fastest.
type nearRow struct {
	table    *calibration
	row      int
	programs []int
}

// limit lets a fit go so far from the values, as a factor.
func (p *fitPoint) limit(factor float64) {
	for f := range p.problem.Params {
		q := &p.problem.Params[f]
		q.Min, q.Max = max(1e-3, q.At/factor), max(2e-3, q.At*factor)
	}
}

// A fit begins with steps of at most a factor. It ends when no value moves by more than settled,
// when steps become too short, or after a number of rounds.
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

// fit simulates, fits the resulting planes to the table, and simulates there again, until nothing
// moves. A small remaining difference is the error of the simulator. Planes hold only so far: where
// a step makes it larger, a shorter one is taken.
//
// First all latencies change by one factor, as a machine is slower or faster than its sources say.
// A table hardly shows more: often only the sum of the start and of all hops. They are fitted one
// by one only if the table is then explained clearly better.
//
// There a parameter that the table does not determine goes back to the machine's own value, and
// the others are fitted again.
func (f *fitter) fit(ctx context.Context) error {
	values, err := f.first(ctx)
	if err != nil {
		return err
	}
	if f.latencies() > 1 {
		enough, err := f.fitTogether(ctx, values)
		if err != nil || enough {
			return err
		}
	}
	for err == nil {
		if err = f.fitFrom(ctx, values); err != nil {
			break
		}
		f.settle()
		i := f.undetermined()
		if i < 0 {
			break
		}
		f.params[i].kept = "the table does not determine it"
		values = f.best.values
		values[i] = f.params[i].base
		f.best, f.ranges = nil, map[int][2]float64{}
	}
	return err
}

// latencies counts the parameters that can change by one factor.
func (f *fitter) latencies() int {
	n := 0
	for i := range f.params {
		if m := &f.params[i]; m.kept == "" && !m.rate && m.base > 0 {
			n++
		}
	}
	return n
}

// separate is the limit of the mean deviation, relative to the fit with one factor, below which
// latencies are fitted one by one. These are three or four parameters instead of one. Errors of
// neighbouring sizes are correlated: a table has about one independent error for each decade. For
// nine of them the criterion of Schwarz (Estimating the dimension of a model, Annals of Statistics
// 6(2), 1978) is exp(-3/2·ln(9)/9), 0.69.
const separate = 2. / 3

// explained is a mean deviation that needs no further parameters.
const explained = 0.002

// fitTogether is fitFrom with one factor for all latencies, and reports whether that is enough. If
// not, it leaves no result.
func (f *fitter) fitTogether(ctx context.Context, values []float64) (enough bool, err error) {
	f.together = true
	defer func() { f.together = false }()
	values = slices.Clone(values)
	for i := range f.params {
		if f.unsourced(i) {
			values[i] = f.params[i].base
		}
	}
	if err := f.fitFrom(ctx, values); err != nil {
		return false, err
	}
	b := f.best
	b.limit(1e3)
	common := b.problem.Deviation(pick(b.values, b.free))
	b.problem.Together = false
	alone := b.problem.Deviation(b.problem.Fit())
	if common > explained && alone < separate*common {
		f.best = nil
		return false, nil
	}
	for i := range f.params {
		if m := &f.params[i]; m.kept == "" && !slices.Contains(b.free, i) {
			m.kept = "no source has it"
		}
	}
	f.settle()
	f.note = fmt.Sprintf("all latencies are changed by one factor: if each had its own, the mean error would fall from %.1f to %.1f %%, "+
		"by less than a third", math.Expm1(common)*100, math.Expm1(alone)*100)
	return true, nil
}

// unsourced reports whether a latency has no source: no factor changes it.
func (f *fitter) unsourced(param int) bool {
	m := &f.params[param]
	return m.kept == "" && !m.rate && !m.start && m.base == 0
}

// fixed returns what the machine adds to a parameter where it takes effect.
func (f *fitter) fixed(param int) float64 {
	if f.params[param].hop {
		return f.rest
	}
	return 0
}

// restOfHop returns the time of a hop without the latency of its protocol. The time of the smallest
// size beyond its start is that of its hops, and the slope of a latency is their number. Programs
// that do more than hops have longer ones, so the shortest counts. 0: no latency is fitted.
func (f *fitter) restOfHop(p *fitPoint) float64 {
	rest := math.Inf(1)
	for r, at := range p.near {
		if r > 0 && p.near[r-1].table == at.table {
			continue
		}
		for g, k := range at.programs {
			program := &p.problem.Rows[r].Programs[g]
			for n, i := range p.free {
				if f.params[i].hop && program.Slope[n] > 1 {
					rest = min(rest, (program.Time-at.table.start(p.values, k))/program.Slope[n]-p.values[i])
				}
			}
		}
	}
	if math.IsInf(rest, 1) {
		return 0
	}
	return max(0, rest)
}

// undetermined returns a parameter that could have any value, as far as the table shows. Of several
// it returns the last, because those of the most frequent events come first. It never returns the
// start or a rate. -1: there is none.
func (f *fitter) undetermined() int {
	for i := len(f.params) - 1; i >= 0; i-- {
		m := &f.params[i]
		r, fitted := f.ranges[i]
		if fitted && m.kept == "" && !m.rate && !m.start && r[0] <= 0 && math.IsInf(r[1], 1) {
			return i
		}
	}
	return -1
}

// fitFrom is fit of the parameters that are free.
func (f *fitter) fitFrom(ctx context.Context, values []float64) error {
	var free []int
	for i := range f.params {
		if f.params[i].kept != "" || f.together && f.unsourced(i) {
			continue
		}
		free = append(free, i)
	}
	step := float64(firstStep)
	for round := 0; round < mostRounds && step > shortestStep; round++ {
		f.rounds++
		for _, c := range f.tables {
			c.result.Rounds = f.rounds
		}
		now, err := f.problemAt(ctx, values, free)
		if err != nil {
			return err
		}
		switch {
		case f.best == nil || now.loss < f.best.loss:
			if err := f.addSlopes(ctx, now); err != nil {
				return err
			}
			if f.best == nil {
				f.rest = f.restOfHop(now)
				for n, i := range free {
					now.problem.Params[n].Fixed = f.fixed(i)
				}
			}
			f.best = now
		default:
			step = math.Sqrt(step)
		}
		f.best.limit(step)
		next := f.best.problem.Fit()
		values = slices.Clone(f.best.values)
		for n, i := range free {
			values[i] = rounded(max(1e-3, next[n]))
		}
		if apart(values, f.best.values) < settled {
			break
		}
	}
	return nil
}

// settle finds the range of each value, and restores the values without an effect.
func (f *fitter) settle() {
	b := f.best
	b.limit(1e3)
	fitted := pick(b.values, b.free)
	for n, i := range b.free {
		if !b.problem.Depends(n) {
			f.params[i].kept = "no time depends on it"
			b.values[i] = f.params[i].base
			continue
		}
		low, high := b.problem.Range(fitted, n)
		f.ranges[i] = [2]float64{low, high}
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

// apart returns the largest distance of two sets of values, as a factor about.
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
func (f *fitter) first(ctx context.Context) ([]float64, error) {
	values := make([]float64, len(f.params))
	for i := range f.params {
		p := &f.params[i]
		if values[i] = rounded(p.base); values[i] > 0 || p.kept != "" {
			continue
		}
		const usualHop, usualOverhead = 500, 50 // ns
		switch {
		case p.name == paramMessage:
			values[i] = usualOverhead
		case p.start:
			values[i] = 1e-3
		default:
			values[i] = usualHop
		}
	}
	for _, c := range f.tables {
		if m := &f.params[c.startParam]; m.base > 0 || m.kept != "" || values[c.startParam] > 1e-3 {
			continue
		}
		rows := c.rowsOf(ToFit)
		if err := c.times(ctx, values, rows[:1]); err != nil {
			return nil, err
		}
		left := c.rows[rows[0]].Time.Ns()
		if t, _ := c.fastest(values, rows[0]); t < left {
			left -= t
		}
		values[c.startParam] = rounded(left)
	}
	return values, nil
}

// fastest returns the program that is at a row, and its time; -1 if none can run.
func (c *calibration) fastest(values []float64, row int) (float64, int) {
	best, which := math.Inf(1), -1
	for k := range c.programs {
		if t := c.time(values, k, row); t < best {
			best, which = t, k
		}
	}
	return best, which
}

// parameters returns what came out, with how far each could be off.
func (f *fitter) parameters() []FittedParameter {
	var all []FittedParameter
	for i := range f.params {
		m := &f.params[i]
		p := FittedParameter{Name: m.name, Key: m.keys[0], Unit: m.unit(), Base: m.base, Fitted: f.best.values[i], Kept: m.kept, param: *m}
		if r, fitted := f.ranges[i]; fitted && m.kept == "" {
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

// base returns the values of the unfitted machine.
func (f *fitter) base() []float64 {
	values := make([]float64, len(f.params))
	for i := range f.params {
		values[i] = f.params[i].base
	}
	return values
}
