package tune

import (
	"context"
	"fmt"
	"slices"

	"kernbench/check/bound"
	"kernbench/lab/limits"
	"kernbench/lab/sweep"
	"kernbench/store"
)

// leastMeasured is the number of measured sizes that an estimate needs.
const leastMeasured = 3

// estimate adds times of sizes that are too large to be measured. It extrapolates from the last two
// measured sizes. To find the error of this estimate, it also estimates the last measured size from
// the two before it.
func (t *tuner) estimate(ctx context.Context, g *tuneGroup, at int) error {
	for _, v := range g.targets {
		if v.points[at] != nil || !v.skipped && g.sizes[at].size <= t.spec.MeasureTo {
			continue
		}
		var from []*Point
		for _, p := range v.points[:at] {
			if p != nil && !p.Estimated && p.Error == "" {
				from = append(from, p)
			}
		}
		if n := len(from); n < leastMeasured {
			continue
		} else {
			from = from[n-leastMeasured:]
		}
		p := g.point(t, v, at)
		p.Key = from[2].Key + fmt.Sprintf("~%d", p.Size)
		p.Estimated, p.Time = true, sweep.Onward(pointOf(from[1]), pointOf(from[2]), p.Size)
		if b, err := t.limits(ctx, g, v, p.Elems); err != nil {
			return err
		} else if b != nil {
			p.Time = max(p.Time, b.Configured) // lines know no limits
		}
		off := sweep.Off(pointOf(from[0]), pointOf(from[1]), pointOf(from[2]))
		p.EstimateError = &off
		if err := t.store.Put(t.out.Run, p); err != nil {
			return err
		}
		v.points[at] = p
		t.out.Points, t.out.Estimated = t.out.Points+1, t.out.Estimated+1
	}
	return nil
}

// noteUnknown adds a note with the sizes that have no time, if some are too large to be measured.
func (t *tuner) noteUnknown(g *tuneGroup, all []*tuneTarget) {
	var unknown []string
	large := false
	for at, s := range g.sizes {
		if !slices.ContainsFunc(all, func(v *tuneTarget) bool { return v.points[at] != nil }) {
			unknown = append(unknown, s.size.String())
		}
		large = large || s.size > t.spec.MeasureTo
	}
	if large = large || slices.ContainsFunc(all, func(v *tuneTarget) bool { return v.skipped }); !large || len(unknown) == 0 {
		return
	}
	t.note("%s: %s of %d ranks has no time of %s: too large to be measured (--budget, --measure-to), and an estimate needs %d smaller sizes (-b, -f)",
		g.machine.name, g.what.Name, g.call.World, sweep.Joined(unknown), leastMeasured)
}

// pointOf returns a point as a size and a time.
func pointOf(p *Point) sweep.Point { return sweep.Point{Size: p.Size, Time: p.Time} }

// bounds adds the limits to the best points of a size. There is one for the best of all, and one
// for the algorithms as configured.
func (t *tuner) bounds(ctx context.Context, g *tuneGroup, at int) error {
	var best, plain *tuneTarget
	for _, v := range g.targets {
		p := v.points[at]
		if p == nil || p.Error != "" {
			continue
		}
		if best == nil || faster(p, best.points[at]) < 0 {
			best = v
		}
		if asConfigured(p) && (plain == nil || faster(p, plain.points[at]) < 0) {
			plain = v
		}
	}
	for _, v := range []*tuneTarget{best, plain} {
		if v == nil {
			continue
		}
		if err := t.bound(ctx, g, v, v.points[at]); err != nil {
			return err
		}
	}
	return nil
}

// limits returns how fast a call could be with a target, including its start in software, or nil if
// unknown.
func (t *tuner) limits(ctx context.Context, g *tuneGroup, v *tuneTarget, elems int) (*store.Bound, error) {
	m := g.machine
	if m.solver == nil {
		var err error
		if m.solver, err = bound.New(m.base.Machine, m.pes); err != nil {
			return nil, err
		}
	}
	c := g.call
	c.Elems = elems
	options := limits.BoundOptions(v.x, v.plan, c)
	if !options.Ideal {
		options.Transfers, _ = limits.Transfers(ctx, v.x, v.plan.Name, c, g.inPlace)
	}
	r, err := m.solver.Limits(g.what, c, options)
	if err != nil {
		return nil, nil // too large for its limits to be known
	}
	b := &store.Bound{Hardware: r.Hardware + v.plan.Start, Configured: r.Limit + v.plan.Start}
	if limit := r.Binding(); limit != nil {
		b.HardwareLimit = string(limit.Kind)
	}
	if limit := r.Configured(); limit != nil {
		b.ConfiguredLimit = string(limit.Kind)
	}
	return b, nil
}

// bound keeps how fast a point could have been, unless that is known.
func (t *tuner) bound(ctx context.Context, g *tuneGroup, v *tuneTarget, p *Point) (err error) {
	if p.Bound != nil || p.Error != "" {
		return nil
	}
	if p.Bound, err = t.limits(ctx, g, v, p.Elems); err != nil || p.Bound == nil {
		return err
	}
	return t.store.PutBound(p.Key, p.Bound)
}
