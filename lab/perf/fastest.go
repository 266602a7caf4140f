package perf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/fault"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// A sweep that chooses the algorithm by measurement has a contest at each size. Not all algorithms
// take part in all contests. A line through the times of smaller sizes estimates the time, and an
// algorithm that will not win is not measured. Lines are renewed while that is cheap, so that an
// algorithm that is slow for short vectors is measured again.

const (
	// nearBest is the largest ratio of an algorithm's expected time to the best one at which the
	// algorithm is still measured.
	nearBest = 1.5

	// renewedBy is the factor between two sizes at which every algorithm is measured, up to
	// renewedTo.
	renewedBy = 8
	renewedTo = 16 * unit.MiB

	// largeStart is the size from which on the first size of a sweep has two smaller sizes before
	// it, without rows. They show which algorithms can win at the first size.
	largeStart = 4 * unit.MiB

	// firstBefore and secondBefore are the ratios of the first size to these smaller sizes.
	firstBefore, secondBefore = 16, 8

	// AutoMeasuresTo is the size up to which a sweep that chooses by measurement simulates, unless
	// its spec names another size.
	AutoMeasuresTo = 64 * unit.MiB
)

// contest has the rows of one call. The fastest one is shown.
type contest struct {
	series string // the properties that the call shares with other sizes
	size   unit.Bytes
	rows   []*Row
	jobs   map[*Row][]*sweep.Case // the deciding ones come last
	took   map[string]unit.Time   // of the runs so far, by sweep.RunKey
	anchor bool                   // larger sizes are extrapolated from it, and it is not shown
	varied bool                   // it has the rows with other settings that smaller sizes had
	recent bool                   // an anchor precedes it, so no line is renewed
	phase  string                 // for progress
	done   int                    // rows that were measured or ruled out
}

// callGroups groups the planned rows by call, in the order of the plan.
func (p *perfPlan) callGroups() []*contest {
	var all []*contest
	at := map[string]*contest{}
	of := map[*Row]*contest{}
	for _, r := range p.rows {
		series := fmt.Sprint(r.Settings, r.Ranks, r.Type, r.RedOp, r.Root)
		call := fmt.Sprint(series, " ", r.Count)
		c := at[call]
		if c == nil {
			c = &contest{
				series: series, size: r.Size, jobs: map[*Row][]*sweep.Case{}, took: map[string]unit.Time{}, anchor: p.tuned[r].anchor,
			}
			at[call] = c
			all = append(all, c)
		}
		c.rows = append(c.rows, r)
		of[r] = c
	}
	for _, j := range p.jobs {
		r := p.rows[j.Row]
		of[r].jobs[r] = append(of[r].jobs[r], j)
	}
	order := map[string]int{} // of series
	for _, c := range all {
		if _, known := order[c.series]; !known {
			order[c.series] = len(order)
		}
	}
	slices.SortStableFunc(all, func(a, b *contest) int {
		return cmp.Or(order[a.series]-order[b.series], cmp.Compare(a.size, b.size))
	})
	for i, c := range all[1:] {
		c.recent = all[i].anchor
	}
	return all
}

// measuredSizes lists the sizes of a sweep. If auto extrapolates, it adds the size up to which
// calls are measured, and its half. A line through sizes that are far apart misses changes of
// schedule. If the first size is large, it adds smaller ones.
func (p *perfPlan) measuredSizes() []unit.Bytes {
	if !p.auto {
		return p.sizes
	}
	all := slices.Clone(p.sizes)
	if p.extrapolates() {
		all = append(all, p.measuresTo()/2, p.measuresTo())
	}
	if first := slices.Min(all); first >= largeStart {
		all = append(all, first/firstBefore, first/secondBefore)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// noteFastest adds a note on how the sweep chooses.
func (p *perfPlan) noteFastest() {
	p.note("%s without a tuning table: of %s those that can win are measured at each size, the nearest with other slots and pieces too, and the fastest is shown",
		algorithm.Auto, strings.Join(p.sweep.Algorithms, ", "))
}

// measureFastest holds all contests, and hands out the winners' rows.
func (p *perfPlan) measureFastest(ctx context.Context, all []*contest, row func(*Row)) error {
	known := map[string][]sweep.Point{} // by series and algorithm
	for i, c := range all {
		c.phase = fmt.Sprintf("perf, size %d of %d (%v)", i+1, len(all), c.size)
		c.progress(p, 0)
		r, err := p.hold(ctx, c, known)
		if err != nil {
			return err
		}
		if !c.anchor {
			row(r)
		}
	}
	return ctx.Err()
}

// progress reports that more rows of a contest were measured or ruled out.
func (c *contest) progress(p *perfPlan, rows int) {
	c.done = min(c.done+rows, len(c.rows))
	p.progress(c.phase, c.done, len(c.rows))
}

// hold runs one contest, and returns the winner: the fastest row that ends with right results, else
// the first.
func (p *perfPlan) hold(ctx context.Context, c *contest, known map[string][]sweep.Point) (*Row, error) {
	if err := p.addKnownVariants(c); err != nil {
		return nil, err
	}
	if c.size > p.measuresTo() {
		if r := p.expected(c, known); r != nil {
			return r, nil
		}
	}
	times := map[*Row]unit.Time{}
	near, unknown := c.due(known, p.ruled)
	rows, err := p.measureContenders(ctx, c, near, unknown, times, known)
	if err != nil {
		return nil, err
	}
	// The best may be slower than its line. Then others can win that its line had ruled out.
	looked := func(r *Row) bool { return slices.Contains(near, r) || slices.Contains(unknown, r) }
	moreNear, moreUnknown := c.due(known, p.ruled)
	more, err := p.measureContenders(ctx, c, slices.DeleteFunc(moreNear, looked), slices.DeleteFunc(moreUnknown, looked), times, known)
	if err != nil {
		return nil, err
	}
	rows = append(rows, more...)
	all := len(c.rows)
	if err := p.addVariants(ctx, c, p.near(times)); err != nil {
		return nil, err
	}
	near, unknown = c.due(known, p.ruled)
	variants := slices.DeleteFunc(append(near, unknown...), func(r *Row) bool { return !slices.Contains(c.rows[all:], r) })
	if err := p.measureDue(ctx, c, variants, times, known); err != nil {
		return nil, err
	}
	rows = append(rows, variants...)
	if c.anchor {
		return nil, nil
	}
	finishers := slices.DeleteFunc(slices.Clone(c.rows), func(r *Row) bool { _, ended := times[r]; return !ended })
	slices.SortStableFunc(finishers, func(a, b *Row) int { return cmp.Compare(times[a], times[b]) })
	for _, r := range finishers {
		if err := p.sideBySide(ctx, c.jobs[r], func(j *sweep.Case, as *sweep.Placement) {
			r.measured(j, as)
		}); err != nil {
			return nil, err
		}
		if r.Deciding() != nil {
			return r, nil
		}
	}
	c.rows = c.rows[:all]
	if len(rows)-len(variants) < len(c.rows) { // rows that cannot win are better than none
		for _, r := range rows {
			c.rows = slices.DeleteFunc(c.rows, func(other *Row) bool { return other == r })
			delete(known, c.key(r))
		}
		if r, err := p.hold(ctx, c, known); err != nil || r.Deciding() != nil {
			return r, err
		}
	}
	return rows[0], nil
}

// eventCounts has the events of the last simulation by series and algorithm. Longer runs start
// first.
type eventCounts map[string]int64

// keep notes the events of a simulation.
func (e eventCounts) keep(key string, events int64) { e[key] = events }

// measureDue measures rows of a contest. Rows whose runs are the same share one. If it fails, the
// next of them is run, so that each has an error of its own.
func (p *perfPlan) measureDue(ctx context.Context, c *contest, rows []*Row, times map[*Row]unit.Time,
	known map[string][]sweep.Point) error {
	for len(rows) > 0 {
		var jobs []*sweep.Case
		var same []*Row // as a row that is being measured
		running := map[string]bool{}
		took := func(r *Row, t unit.Time) {
			times[r] = t
			key := c.key(r)
			known[key] = append(known[key], sweep.Point{Size: c.size, Time: t})
		}
		for i, r := range rows {
			of := c.jobs[r]
			if len(of) == 0 {
				continue
			}
			run := p.runKey(r)
			if t, ended := c.took[run]; ended {
				took(r, t)
				c.progress(p, 1)
				continue
			}
			if running[run] {
				same = append(same, r)
				continue
			}
			running[run] = true
			one := *of[len(of)-1]
			one.Row, one.Job, one.Bytes = i, one.Job.Verified(false), 0 // the winner is checked
			one.Length = p.events[c.key(r)]
			jobs = append(jobs, &one)
		}
		if err := p.sideBySide(ctx, jobs, func(j *sweep.Case, as *sweep.Placement) {
			r := rows[j.Row]
			c.progress(p, 1)
			if as.Err != nil {
				r.set(j.InPlace, as)
				return
			}
			c.took[p.runKey(r)] = as.Time
			p.events.keep(c.key(r), j.Events)
			took(r, as.Time)
		}); err != nil {
			return err
		}
		rows = same
	}
	return nil
}

// runKey returns a name that rows of a contest share if their runs are the same.
func (p *perfPlan) runKey(r *Row) string {
	return sweep.RunKey(p.targets[r].Plan)
}

// sideBySide makes runs in parallel. It fails if ctx ends them or a kernel does not end.
func (p *perfPlan) sideBySide(ctx context.Context, jobs []*sweep.Case, ended func(*sweep.Case, *sweep.Placement)) error {
	var stalled error
	sweep.SideBySide(ctx, jobs, p.spec.Memory, func(j *sweep.Case, as *sweep.Placement) {
		if fault.IsStalled(as.Err) {
			stalled = as.Err
		}
		ended(j, as)
	})
	return cmp.Or(stalled, ctx.Err())
}

// set stores a measured placement in its row.
func (r *Row) set(inPlace bool, as *sweep.Placement) {
	if inPlace {
		r.InPlace = as
	} else {
		r.OutOfPlace = as
	}
}

// measured stores a measured placement of a case in its row, and the command that shows what is
// wrong.
func (r *Row) measured(j *sweep.Case, as *sweep.Placement) {
	r.set(j.InPlace, as)
	if as.Wrong != nil && *as.Wrong > 0 && r.Note == "" {
		r.Note = j.Again()
	}
}

func (c *contest) key(r *Row) string {
	return c.series + " " + r.Protocol + " " + sweep.Named(r.Algorithm, r.Chosen)
}

// due lists the rows that can win according to their lines, and the rows whose line is unknown or
// must be renewed. A time that fell between the last two sizes comes from a change of schedule. The
// line through them rules out no row. A row without times that was ruled out has the line through
// its limits.
func (c *contest) due(known map[string][]sweep.Point, ruled ruledOut) (near, unknown []*Row) {
	expected, best := make([]unit.Time, len(c.rows)), unit.MaxTime
	for i, r := range c.rows {
		points, limits := known[c.key(r)], ruled[c.key(r)]
		switch {
		case rising(points):
			expected[i] = onward(points, c.size)
			best = min(best, expected[i])
		case len(points) == 0 && rising(limits):
			expected[i] = onward(limits, c.size)
		}
	}
	for i, r := range c.rows {
		switch {
		case expected[i] == 0, !c.recent && c.size <= renewedTo && c.size >= renewedBy*lastLooked(known[c.key(r)], ruled[c.key(r)]):
			unknown = append(unknown, r)
		case float64(expected[i]) > nearBest*float64(best):
		case len(known[c.key(r)]) == 0:
			unknown = append(unknown, r)
		default:
			near = append(near, r)
		}
	}
	return near, unknown
}

// onward continues the line through the last two points to a size.
func onward(points []sweep.Point, size unit.Bytes) unit.Time {
	return sweep.Onward(points[len(points)-2], points[len(points)-1], size)
}

// rising reports whether the last two points give a rising line, from which the time of a larger
// size can be read.
func rising(points []sweep.Point) bool {
	n := len(points)
	return n >= 2 && points[n-2].Time <= points[n-1].Time
}

// expected returns the row that is fastest by its line, and its expected time; nil if no row has a
// line.
func (p *perfPlan) expected(c *contest, known map[string][]sweep.Point) (best *Row) {
	for _, r := range c.rows {
		points, jobs := known[c.key(r)], c.jobs[r]
		if len(points) < 2 || len(jobs) == 0 {
			continue
		}
		p.extrapolate(r, jobs[len(jobs)-1], points)
		if best == nil || r.Deciding().Time < best.Deciding().Time {
			best = r
		}
	}
	return best
}
