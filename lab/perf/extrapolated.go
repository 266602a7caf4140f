package perf

import (
	"cmp"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/lab/limits"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// Extrapolated describes the time of a row that was not simulated: the line through two smaller
// sizes, or a limit above that line.
type Extrapolated struct {
	From  [2]unit.Bytes `json:"from_sizes"`
	Error *float64      `json:"error"` // of such a line at the larger of the two: 0.01 is 1 % too long; nil: not known
}

// extrapolates reports whether some sizes are larger than the simulated ones.
func (p *perfPlan) extrapolates() bool {
	return p.sweep.Timed && slices.ContainsFunc(p.sizes, func(s unit.Bytes) bool { return s > p.measuresTo() })
}

// measuresTo returns the size up to which calls are simulated.
func (p *perfPlan) measuresTo() unit.Bytes {
	switch {
	case !p.sweep.Timed:
	case p.spec.MeasureTo > 0:
		return p.spec.MeasureTo
	case p.auto:
		return AutoMeasuresTo
	}
	return unit.Bytes(1<<63 - 1)
}

// divide returns the runs to make, and the runs whose time is extrapolated. The latter have sizes
// beyond the limit, if at least two sizes of the same kind are simulated.
func (p *perfPlan) divide() ([]*sweep.Case, *lines) {
	l := &lines{plan: p, beyond: map[*Row][]*sweep.Case{}, known: map[string][]sweep.Point{}}
	within := map[string]int{}
	for _, j := range p.jobs {
		if r := p.rows[j.Row]; p.tuned[r].line == "" && r.Size <= p.measuresTo() {
			within[p.lineOf(r, j.InPlace)]++
		}
	}
	var jobs []*sweep.Case
	for _, j := range p.jobs {
		r := p.rows[j.Row]
		if by := p.tuned[r]; by.line != "" && !by.anchor || r.Size > p.measuresTo() && within[p.lineOf(r, j.InPlace)] >= 2 {
			l.beyond[r] = append(l.beyond[r], j)
			continue
		}
		jobs = append(jobs, j)
	}
	return jobs, l
}

// lines extrapolates rows, each from earlier rows of its kind.
type lines struct {
	plan   *perfPlan
	beyond map[*Row][]*sweep.Case
	known  map[string][]sweep.Point
}

// lineOf returns the common properties of the rows of one line.
func (p *perfPlan) lineOf(r *Row, inPlace bool) string {
	if by := p.tuned[r]; by.line != "" {
		return fmt.Sprint(by.line, inPlace)
	}
	return fmt.Sprint(r.Algorithm, r.Settings, r.Ranks, r.Type, r.RedOp, r.Root, inPlace)
}

// complete keeps the times of a row, or extrapolates them.
func (l *lines) complete(r *Row) {
	for _, inPlace := range []bool{false, true} {
		at := r.OutOfPlace
		if inPlace {
			at = r.InPlace
		}
		if at != nil && at.Err == nil {
			l.known[l.plan.lineOf(r, inPlace)] = append(l.known[l.plan.lineOf(r, inPlace)], sweep.Point{Size: r.Size, Time: at.Time})
		}
	}
	for _, j := range l.beyond[r] {
		if points := l.known[l.plan.lineOf(r, j.InPlace)]; len(points) >= 2 {
			l.plan.extrapolate(r, j, points)
		} else {
			r.Note = "not extrapolated: of smaller sizes fewer than two came to their end"
		}
	}
}

// extrapolate gives a row the time of a line through the last two points, for one placement. The
// time is not below the row's limits, which a line ignores.
func (p *perfPlan) extrapolate(r *Row, j *sweep.Case, points []sweep.Point) {
	n := len(points)
	a, b := points[n-2], points[n-1]
	at := &sweep.Placement{Time: sweep.Onward(a, b, r.Size)}
	if p.tuned[r].line == "" { // else the table's times are wanted
		at.Time = max(at.Time, p.least(r))
	}
	at.Rate(j)
	r.set(j.InPlace, at)
	r.Extrapolated = &Extrapolated{From: [2]unit.Bytes{a.Size, b.Size}}
	r.Note = fmt.Sprintf("extrapolated from %v and %v", a.Size, b.Size)
	if by := p.tuned[r]; by.with != "" {
		r.Note = by.with + ", " + r.Note
	}
	if n >= 3 {
		off := sweep.Off(points[n-3], a, b)
		r.Extrapolated.Error = &off
		r.Note += fmt.Sprintf(", which at %v is off by %+.2g %%", b.Size, cmp.Or(100*off, 0))
	}
}

// least returns the lower limit of a row, with its start in software; 0: unknown.
func (p *perfPlan) least(r *Row) unit.Time {
	on, known := p.bounded[r]
	if !known {
		return 0
	}
	limits, err := on.solver.Limits(p.what, on.call, limits.BoundOptions(on.job, on.plan, on.call))
	if err != nil {
		return 0
	}
	return limits.Limit + r.Launch
}

// anchors plans the runs from which the times of large sizes are extrapolated because a tuning
// table requires it. They have the size up to which its times were simulated, its half, and, for
// the error, a quarter of it. No row shows them.
func (p *perfPlan) anchors(t perfTarget, c collective.Call, to unit.Bytes, line string) error {
	for _, size := range []unit.Bytes{to / 4, to / 2, to} {
		one := c
		var count int
		if count, one.Elems = sweep.Counts(p.what, one, size); one.Elems == 0 {
			continue
		}
		before := len(p.rows)
		if err := p.point(t, one, count); err != nil {
			return err
		}
		if len(p.rows) == before {
			continue // refused
		}
		p.tuned[p.rows[before]] = tunedRow{line: line, anchor: true}
	}
	for _, j := range p.jobs {
		if p.tuned[p.rows[j.Row]].anchor {
			j.Job, j.Bytes = j.Job.Verified(false), 0
		}
	}
	return nil
}

// lineName names the runs of one program, for all sizes of a call.
func lineName(t perfTarget, with []string, c collective.Call) string {
	return fmt.Sprint(t.Plan.Name, with, t.Settings, c.World, c.Type, c.Op, c.Root)
}
