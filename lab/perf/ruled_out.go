package perf

import (
	"context"
	"slices"

	"kernbench/lab/limits"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// This file rules out rows of a contest without a simulation. An algorithm takes at least as long
// as the busiest link needs for its bytes. On many ranks that shows which algorithms lose, and
// these take longest to simulate.
// Invariant: a row is ruled out only if its lower limit is above the time of a measured row.

const (
	// ruledOutFrom is the size from which on limits rule out rows. In shorter calls bytes do not
	// decide.
	ruledOutFrom = 256 * unit.KiB

	// firstOfLimits is the ratio of limits that divides the rows: those up to this multiple of the
	// least limit are measured first.
	firstOfLimits = 2
)

// ruledOut has the lower limits of the rows that were ruled out, by series and algorithm.
type ruledOut map[string][]sweep.Point

// keep notes that a limit has ruled out a row.
func (o ruledOut) keep(key string, at sweep.Point) { o[key] = append(o[key], at) }

// measureContenders measures the rows that are due in a contest, but not those that cannot win. It
// returns the measured rows.
func (p *perfPlan) measureContenders(ctx context.Context, c *contest, near, unknown []*Row, times map[*Row]unit.Time,
	known map[string][]sweep.Point) ([]*Row, error) {
	limit := map[*Row]unit.Time{}
	least := unit.MaxTime
	for _, r := range unknown {
		if limit[r] = p.trafficLimit(ctx, c, r); limit[r] > 0 {
			least = min(least, limit[r])
		}
	}
	first, later := near, []*Row{}
	for _, r := range unknown {
		if limit[r]/firstOfLimits <= least {
			first = append(first, r)
		} else {
			later = append(later, r)
		}
	}
	if err := p.measureDue(ctx, c, first, times, known); err != nil {
		return nil, err
	}
	best := unit.MaxTime
	for _, t := range times {
		best = min(best, t)
	}
	later = slices.DeleteFunc(later, func(r *Row) bool {
		if limit[r] <= best || p.simulateAll {
			return false
		}
		p.ruled.keep(c.key(r), sweep.Point{Size: c.size, Time: limit[r]})
		return true
	})
	return append(first, later...), p.measureDue(ctx, c, later, times, known)
}

// trafficLimit returns a lower limit of a row by the bytes that its algorithm moves; 0: unknown.
func (p *perfPlan) trafficLimit(ctx context.Context, c *contest, r *Row) unit.Time {
	on, jobs := p.bounded[r], c.jobs[r]
	if on.solver == nil || len(jobs) == 0 || c.size < ruledOutFrom {
		return 0
	}
	options := limits.BoundOptions(on.job, on.plan, on.call)
	if options.Ideal {
		return 0
	}
	var err error
	if options.Transfers, err = limits.Transfers(ctx, on.job, on.plan.Name, on.call, jobs[len(jobs)-1].InPlace); err != nil {
		return 0
	}
	all, err := on.solver.Limits(p.what, on.call, options)
	if err != nil {
		return 0
	}
	return all.Limit + r.Launch
}

// lastLooked returns the last size at which a row was measured or ruled out.
func lastLooked(points, ruled []sweep.Point) unit.Bytes {
	size := unit.Bytes(0)
	for _, of := range [][]sweep.Point{points, ruled} {
		if n := len(of); n > 0 {
			size = max(size, of[n-1].Size)
		}
	}
	return size
}
