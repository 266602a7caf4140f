package perf

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// A sweep that chooses the algorithm by measurement tries other settings, too. Slots of rings and
// pieces of pipelines decide how far the steps of an algorithm overlap. Only algorithms that are
// near the fastest with their configured settings are tried with others.

// Rows of a contest are tried with other settings if their times are at most variedWithin times the
// best. These are at most mostVaried rows, the fastest.
const (
	variedWithin = 2
	mostVaried   = 6
)

// fewSlots is the number of slots below which variants have more: with fewer, a sender waits for
// credits.
const fewSlots = 8

// triedTargets holds the variants of targets that were tried, by variantsOf. A plan only reads it:
// addVariants keeps variants of a target when it has made them.
type triedTargets map[string][]perfTarget

// keep notes the variants of a target.
func (t triedTargets) keep(key string, all []perfTarget) { t[key] = all }

// near lists the rows that can have other settings, and whose time is at most variedWithin times
// the best. The fastest come first.
func (p *perfPlan) near(times map[*Row]unit.Time) (all []*Row) {
	best := unit.MaxTime
	for _, t := range times {
		best = min(best, t)
	}
	for r, t := range times {
		on := p.targets[r]
		if t <= variedWithin*best && len(p.otherSettings(&on)) > 0 {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(a.Algorithm, b.Algorithm), cmp.Compare(a.Protocol, b.Protocol))
	})
	return all[:min(len(all), mostVaried)]
}

// addKnownVariants adds to a contest the rows with those other settings that smaller sizes were
// measured with. Their lines decide whether they are due.
func (p *perfPlan) addKnownVariants(c *contest) error {
	if c.varied {
		return nil
	}
	c.varied = true
	return p.addRows(c, c.rows, func(t perfTarget) ([]perfTarget, error) { return p.tried[variantsOf(&t)], nil })
}

// addVariants adds to a contest the rows with other settings of some of its rows. A setting that
// the user sets or varies stays.
func (p *perfPlan) addVariants(ctx context.Context, c *contest, rows []*Row) error {
	return p.addRows(c, rows, func(t perfTarget) (all []perfTarget, err error) {
		key := variantsOf(&t)
		if _, made := p.tried[key]; made {
			return nil, nil
		}
		for _, chosen := range p.otherSettings(&t) {
			more := slices.Concat(t.Settings, t.shape, chosen)
			if t.protocol != "" {
				more = append(more, sweep.Setting{Key: "protocol", Value: t.protocol})
			}
			one, err := p.target(t.Plan.Name, more)
			if err == nil {
				_, err = one.Small()
			}
			if err != nil {
				continue // such as rings that do not fit
			}
			one.Settings, one.shape, one.protocol, one.tried = t.Settings, t.shape, t.protocol, chosen
			if err := p.measurable(ctx, &one); err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		p.tried.keep(key, all)
		return all, nil
	})
}

// addRows adds to a contest the calls of some of its rows by other targets.
func (p *perfPlan) addRows(c *contest, rows []*Row, targets func(perfTarget) ([]perfTarget, error)) error {
	for _, r := range slices.Clone(rows) {
		of := c.jobs[r]
		if len(of) == 0 || len(r.Chosen) > 0 {
			continue
		}
		all, err := targets(p.targets[r])
		if err != nil {
			return err
		}
		for _, t := range all {
			planned, jobs := len(p.rows), len(p.jobs)
			if err := p.point(t, of[0].Call, r.Count); err != nil {
				return err
			}
			for _, row := range p.rows[planned:] {
				c.rows = append(c.rows, row)
				c.jobs[row] = slices.Clone(p.jobs[jobs:])
			}
		}
	}
	return nil
}

// variantsOf names what variants of a target share.
func variantsOf(t *perfTarget) string {
	return fmt.Sprint(t.Plan.World, " ", t.protocol, " ", sweep.Named(t.Plan.Name, t.Settings))
}

// otherSettings lists settings with which an algorithm is tried: of its rings if it has some, else
// of its pieces. Rails of one node have no pieces: another algorithm performs their calls.
func (p *perfPlan) otherSettings(t *perfTarget) (all [][]sweep.Setting) {
	try := func(key string, values ...string) {
		if p.isSet(key) {
			return
		}
		for _, v := range values {
			all = append(all, []sweep.Setting{{Key: key, Value: v}})
		}
	}
	switch {
	case run.HasRings(t.Plan):
		try("slot_size", "4KiB", "32KiB", "256KiB")
		if t.Plan.Config.NSlots < fewSlots && !p.isSet("n_slots") {
			for i := range all {
				all[i] = append(all[i], sweep.Setting{Key: "n_slots", Value: fmt.Sprint(fewSlots)})
			}
		}
	case t.Plan.Performer().Pipelined:
		try("chunk_size", "auto", "32KiB", "256KiB")
	}
	return all
}
