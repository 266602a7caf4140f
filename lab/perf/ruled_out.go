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

	// firstInstructions is the number of instructions that are counted before the first row is
	// measured. The number of all grows with the ranks, their pairs and the bytes.
	firstInstructions = 1 << 20
)

// ruledOut has the lower limits of the rows that were ruled out, by series and algorithm.
type ruledOut map[string][]sweep.Point

// keep notes that a limit has ruled out a row.
func (o ruledOut) keep(key string, at sweep.Point) { o[key] = append(o[key], at) }

// measureContenders measures the rows that are due in a contest, but not those that cannot win. It
// returns the measured rows.
func (p *perfPlan) measureContenders(ctx context.Context, c *contest, near, unknown []*Row, times map[*Row]unit.Time,
	known map[string][]sweep.Point) ([]*Row, error) {
	lower, least := p.trafficLimits(ctx, c, unknown)
	first, later := near, []*Row{}
	for _, r := range unknown {
		if lower[r].time/firstOfLimits <= least {
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
		at := lower[r]
		if at.part && at.time <= best {
			at = p.trafficLimit(ctx, c, r, 0)
		}
		if at.time <= best || p.simulateAll {
			return false
		}
		p.ruled.keep(c.key(r), sweep.Point{Size: c.size, Time: at.time})
		c.progress(p, 1)
		return true
	})
	return append(first, later...), p.measureDue(ctx, c, later, times, known)
}

// rowLimit is a lower limit of the time of a row; 0: unknown.
type rowLimit struct {
	time unit.Time
	part bool // by the first instructions only
}

// trafficLimits returns limits of rows, and the least known one. It counts all instructions for the
// rows up to firstOfLimits times the least limit.
func (p *perfPlan) trafficLimits(ctx context.Context, c *contest, rows []*Row) (map[*Row]rowLimit, unit.Time) {
	lower := map[*Row]rowLimit{}
	for _, r := range rows {
		lower[r] = p.trafficLimit(ctx, c, r, p.countFirst)
	}
	for {
		least, raised := unit.MaxTime, false
		for _, at := range lower {
			if at.time > 0 {
				least = min(least, at.time)
			}
		}
		for _, r := range rows {
			if at := lower[r]; at.part && at.time/firstOfLimits <= least {
				lower[r], raised = p.trafficLimit(ctx, c, r, 0), true
			}
		}
		if !raised {
			return lower, least
		}
	}
}

// trafficLimit returns a lower limit of a row by the bytes that its algorithm moves. It counts a
// number of instructions; 0: all.
func (p *perfPlan) trafficLimit(ctx context.Context, c *contest, r *Row, instructions int64) rowLimit {
	on, jobs := p.bounded[r], c.jobs[r]
	if on.solver == nil || len(jobs) == 0 || c.size < ruledOutFrom {
		return rowLimit{}
	}
	options := limits.BoundOptions(on.job, on.plan, on.call)
	if options.Ideal {
		return rowLimit{}
	}
	moved, all, err := limits.FirstTransfers(ctx, on.job, on.plan.Name, on.call, jobs[len(jobs)-1].InPlace, instructions)
	if err != nil {
		return rowLimit{}
	}
	options.Transfers = moved
	limit, err := on.solver.Limits(p.what, on.call, options)
	if err != nil {
		return rowLimit{}
	}
	return rowLimit{time: limit.Limit + r.Launch, part: !all}
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
