package perf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// isAuto reports whether a sweep chooses the algorithm by measurements. If so, it finds the tuning
// table with them.
func (p *perfPlan) isAuto() (bool, *algorithm.Tuning, error) {
	names := p.spec.Algorithms
	if len(names) > 1 && slices.Contains(names, algorithm.Auto) {
		return false, nil, fmt.Errorf("algorithms %s: %s chooses among all algorithms: give it alone",
			strings.Join(names, ", "), algorithm.Auto)
	}
	if p.spec.AllAlgorithms || len(names) == 1 && names[0] != algorithm.Auto {
		return false, nil, nil
	}
	x, err := p.load("", nil)
	if err != nil {
		return false, nil, err
	}
	name := ""
	if len(names) == 1 {
		name = names[0]
	}
	if !device.IsAuto(x.Entries, name) {
		return false, nil, nil
	}
	if err := p.executor.Needs(exec.Clock); err != nil && p.spec.Base.Tuning == "" {
		return false, nil, fmt.Errorf("algorithm %s without a tuning table measures all, and %w: say --tuning FILE", algorithm.Auto, err)
	}
	if p.spec.Base.Tuning != "" {
		tuning, err := run.LoadTuning(p.spec.Base.Tuning)
		return true, tuning, err
	}
	tuning, err := p.ownChoices()
	return true, tuning, err
}

// ownChoices returns those that the file of the machine has, if it has one for each call of the
// sweep, else nil.
func (p *perfPlan) ownChoices() (own *algorithm.Tuning, err error) {
	ranks, err := p.ranks()
	if err != nil {
		return nil, err
	}
	base := p.spec.Base
	for _, base.Ranks = range ranks {
		for _, settings := range sweep.Combinations(p.spec.Vary) {
			x, err := sweep.Load(&base, "", settings)
			if err != nil {
				return nil, err
			}
			topo := x.Machine.Topology()
			own = x.Choices()
			for _, typ := range p.spec.Types {
				_, err := own.For(topo.Fingerprint(), p.what.Name, p.world(x), typ)
				if err == nil {
					continue
				}
				if all := topo.Choices(); len(all) > 0 {
					p.note("choices of %s are left out: %s", base.Topology, whyNot(all, topo.Fingerprint(), p.what.Name, p.world(x)))
				}
				return nil, nil
			}
		}
	}
	return own, nil
}

// whyNot returns why a machine's own choices have none for a call.
func whyNot(all []conf.TuningTable, fingerprint, collective string, ranks int) string {
	var known []string
	for i := range all {
		if c := &all[i]; c.Fingerprint == fingerprint {
			known = append(known, fmt.Sprintf("%s of %d ranks", c.Collective, c.Ranks))
		}
	}
	if len(known) == 0 {
		return fmt.Sprintf("they are of the machine with the fingerprint %s, and this one has %s", all[0].Fingerprint, fingerprint)
	}
	return fmt.Sprintf("they are for %s, not for %s of %d ranks", strings.Join(known, ", "), collective, ranks)
}

// world returns how many ranks take part.
func (p *perfPlan) world(x *run.Job) int {
	return cmp.Or(x.World(), x.Entries.Defaults().WorldSize, x.Machine.NumPEs())
}

// addTuned plans the rows for which a table has algorithms.
func (p *perfPlan) addTuned(ctx context.Context, tuning *algorithm.Tuning) error {
	for _, settings := range sweep.Combinations(p.spec.Vary) {
		x, err := p.load("", settings)
		if err != nil {
			return err
		}
		world := p.world(x)
		roots, err := p.roots(world)
		if err != nil {
			return err
		}
		ready := map[string]perfTarget{}
		for _, typ := range p.spec.Types {
			table, err := tuning.For(x.Machine.Topology().Fingerprint(), p.what.Name, world, typ)
			if err != nil {
				return err
			}
			for _, op := range p.spec.Ops {
				for _, root := range roots {
					c := collective.Call{World: world, Type: typ, Op: op, Root: root}
					if err := p.tunedSeries(ctx, table, c, settings, ready); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// tunedRow holds what a tuning table has to do with a row.
type tunedRow struct {
	with   string // settings, for the note
	line   string // names the runs from which the time is extrapolated, if the table requires that; "": it does not
	anchor bool   // measured only to extrapolate from, not shown
}

// tunedSeries plans a row for every size, of the first choice of the table that takes it.
func (p *perfPlan) tunedSeries(ctx context.Context, table *algorithm.TuningTable, c collective.Call,
	settings []sweep.Setting, ready map[string]perfTarget) error {
	last, anchored := -1, map[string]bool{}
	for _, size := range p.sizes {
		count, elems := sweep.Counts(p.what, c, size)
		if count == 0 && sweep.Largest(p.what, c) > 0 || count == last {
			continue
		}
		last, c.Elems = count, elems
		t, with, err := p.choose(ctx, table.At(p.what.Bytes(c)), c, settings, ready)
		if err != nil {
			return err
		}
		t.Settings = settings
		line := ""
		if to := table.SimulateTo; to > 0 && p.what.Bytes(c) > to && p.spec.MeasureTo == 0 && p.sweep.Timed {
			line = lineName(t, with, c)
			if !anchored[line] {
				anchored[line] = true
				if err := p.anchors(t, c, to, line); err != nil {
					return err
				}
			}
		}
		if err := p.point(t, c, count); err != nil {
			return err
		}
		row := p.rows[len(p.rows)-1]
		by := tunedRow{line: line}
		if len(with) > 0 {
			by.with = "with " + strings.Join(with, " ")
		}
		if p.tuned[row] = by; row.Note == "" {
			row.Note = by.with
		}
		p.describe(t)
	}
	return nil
}

// choose prepares the first choice that accepts a call.
func (p *perfPlan) choose(ctx context.Context, row *algorithm.TuningRow, c collective.Call, settings []sweep.Setting,
	ready map[string]perfTarget) (t perfTarget, with []string, err error) {
	var refusals []string
	for i, name := range append([]string{row.Use}, row.Else...) {
		with = nil
		if i == 0 {
			with = row.Settings
		}
		key := strings.Join(append([]string{name}, with...), " ")
		t, known := ready[key]
		if !known {
			all := slices.Clone(settings)
			for _, s := range with {
				k, v, _ := strings.Cut(s, "=")
				all = append(all, sweep.Setting{Key: k, Value: v})
			}
			if t, err = p.target(name, all); err == nil {
				err = p.measurable(ctx, &t)
			}
			if err != nil {
				return t, nil, err
			}
			ready[key] = t
		}
		if err := sweep.Refusal(t.Plan, c); err == nil {
			return t, with, nil
		} else {
			refusals = append(refusals, err.Error())
		}
	}
	return t, nil, fmt.Errorf("no tuned algorithm accepts a call of %v: %s", p.what.Bytes(c), strings.Join(refusals, "; "))
}

// isVerified reports whether an algorithm computes right results on few elements. Only then may
// auto choose it, even if the rows are not checked.
func (p *perfPlan) isVerified(ctx context.Context, t perfTarget) bool {
	c, err := sweep.FewElements(p.what, t.Plan)
	if err != nil {
		return false // the targets were checked with the same call
	}
	x := t.Job.OneCall(c, sweep.FitsInPlace(p.what, c)).On(exec.Default(exec.Checking)).Verified(true)
	j := sweep.Case{Job: x, What: p.what, Call: c}
	switch at := j.Run(ctx); {
	case at.Err != nil:
		why, _, _ := strings.Cut(at.Error, "\n")
		p.note("%s is left out: %s", t.Plan.Name, why)
	case at.Wrong != nil && *at.Wrong > 0:
		p.note("%s is left out: %d elements are wrong", t.Plan.Name, *at.Wrong)
	default:
		return true
	}
	return false
}

// Deciding returns the placement by which rows are compared with each other, as tune does: in place
// if results can go there. It is nil if that run did not end, or is wrong.
func (r *Row) Deciding() *sweep.Placement {
	at := r.InPlace
	if at == nil {
		at = r.OutOfPlace
	}
	if at == nil || at.Err != nil || at.Wrong != nil && *at.Wrong > 0 {
		return nil
	}
	return at
}
