package perf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/collective"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// add plans the rows of a target: by type, operation and root, in the order of nccl-tests, and
// size.
func (p *perfPlan) add(ctx context.Context, t perfTarget) error {
	if err := p.measurable(ctx, &t); err != nil {
		return err
	}
	roots, err := p.roots(t.Plan.World)
	if err != nil {
		return err
	}
	for _, typ := range p.spec.Types {
		for _, op := range p.spec.Ops {
			for _, root := range roots {
				if err := p.series(t, collective.Call{World: t.Plan.World, Type: typ, Op: op, Root: root}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// measurable finds out whether a target can leave results out of place, and the limits of its rows.
func (p *perfPlan) measurable(ctx context.Context, t *perfTarget) error {
	known, err := false, error(nil)
	if t.outOfPlace, known = p.outOfPlace[t.Plan.Algorithm]; !known {
		if t.outOfPlace, err = t.LeavesApart(ctx); err != nil {
			return err
		}
		p.outOfPlace[t.Plan.Algorithm] = t.outOfPlace
	}
	if !t.outOfPlace {
		p.note("%s leaves its results where the contributions are: there is nothing to measure out of place", t.Plan.Name)
	}
	return p.limits(t)
}

func (p *perfPlan) roots(world int) ([]int, error) {
	switch {
	case !p.what.Rooted:
		return []int{0}, nil
	case p.spec.AllRoots:
		return sweep.NumbersBelow(world), nil
	case len(p.spec.Roots) == 0:
		return []int{0}, nil
	}
	for _, r := range p.spec.Roots {
		if r < 0 || r >= world {
			return nil, fmt.Errorf("root %d: the ranks are 0 to %d", r, world-1)
		}
	}
	return p.spec.Roots, nil
}

// series plans a row for every size at which each rank has an element. Sizes with the same count
// are one row.
func (p *perfPlan) series(t perfTarget, c collective.Call) error {
	last, small := -1, 0
	for _, size := range p.measuredSizes() {
		count, elems := sweep.Counts(p.what, c, size)
		if count == 0 && sweep.Largest(p.what, c) > 0 {
			small++
			continue
		}
		if count == last {
			continue
		}
		last, c.Elems = count, elems
		before := len(p.rows)
		if err := p.point(t, c, count); err != nil {
			return err
		}
		if len(p.rows) > before && !slices.Contains(p.sizes, size) {
			p.tuned[p.rows[before]] = tunedRow{anchor: true}
		}
	}
	if small > 0 {
		p.note("%s below %v: too small for one element of %v on each of %d ranks", unit.Count(small, "size"),
			sweep.Parts(p.what, c)*unit.Bytes(c.Type.Size()), c.Type, c.World)
	}
	return nil
}

// point plans a row, and its runs.
func (p *perfPlan) point(t perfTarget, c collective.Call, count int) error {
	row := &Row{
		Size: unit.Bytes(count) * sweep.Parts(p.what, c) * unit.Bytes(c.Type.Size()), Count: count,
		Type: c.Type.String(), RedOp: "none", Root: -1,
		Algorithm: t.Plan.Name, Ranks: c.World, Settings: t.Settings, Protocol: t.protocol, Chosen: t.tried,
	}
	var with []string
	for _, s := range t.shape {
		with = append(with, s.Key+"="+s.Value)
	}
	if t.protocol != "" {
		with = append(with, "protocol="+t.protocol)
	}
	for _, s := range t.tried {
		with = append(with, s.Key+"="+s.Value)
	}
	if len(with) > 0 {
		row.Note = "with " + strings.Join(with, " ")
	}
	if p.what.Reduces {
		row.RedOp = c.Op.String()
	}
	if p.what.Rooted {
		row.Root = c.Root
	}
	if p.sweep.Timed {
		row.Launch = t.Plan.Start
	}
	refused := sweep.Refusal(t.Plan, c)
	if refused != nil && p.sweep.All {
		p.refused.add(sweep.Named(row.Algorithm, row.Settings), refused.Error(), row.Size.String())
		return nil
	}
	p.rows = append(p.rows, row)
	if p.auto {
		p.targets[row] = t
	}
	if on := t.limits; on.solver != nil {
		on.call = c
		p.bounded[row] = on
	}
	if refused != nil {
		row.Note = refused.Error()
		return nil
	}
	for _, inPlace := range []bool{false, true} {
		if inPlace && !sweep.FitsInPlace(p.what, c) || !inPlace && !t.outOfPlace {
			continue
		}
		job := &sweep.Case{
			Row: len(p.rows) - 1, Job: t.Job.OneCall(c, inPlace), What: p.what, Call: c, InPlace: inPlace, Launch: row.Launch,
			Length: int64(c.Elems) * int64(c.Type.Size()),
		}
		switch moved := sweep.Data(p.what, c, inPlace); {
		case !p.sweep.Check:
		case moved <= p.spec.Memory:
			job.Job, job.Bytes = job.Job.Verified(true), moved
		case inPlace || !sweep.FitsInPlace(p.what, c) || sweep.Data(p.what, c, true) > p.spec.Memory:
			row.Note = fmt.Sprintf("not checked: the data of all ranks is %v, and --mem %v", moved, p.spec.Memory)
		default:
			row.Note = fmt.Sprintf("out of place not checked: the data of all ranks is %v, and --mem %v", moved, p.spec.Memory)
		}
		p.jobs = append(p.jobs, job)
	}
	return nil
}
