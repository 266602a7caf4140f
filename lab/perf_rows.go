package lab

import (
	"context"
	"fmt"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/unit"
)

// add plans the rows of a target: by type, operation and root, as nccl-tests goes through them,
// and size.
func (p *perfPlan) add(ctx context.Context, t perfTarget) error {
	if err := p.measurable(ctx, &t); err != nil {
		return err
	}
	roots, err := p.roots(t.plan.World)
	if err != nil {
		return err
	}
	for _, typ := range p.spec.Types {
		for _, op := range p.spec.Ops {
			for _, root := range roots {
				if err := p.series(t, collective.Call{World: t.plan.World, Type: typ, Op: op, Root: root}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// measurable finds out what there is to measure of a target, and beside which limits.
func (p *perfPlan) measurable(ctx context.Context, t *perfTarget) error {
	var err error
	if t.apart, err = p.leavesApart(ctx, *t); err != nil {
		return err
	}
	if !t.apart {
		p.note("%s leaves its results where the contributions are: there is nothing to measure out of place", t.plan.Name)
	}
	return p.limits(t)
}

func (p *perfPlan) roots(world int) ([]int, error) {
	switch {
	case !p.what.Rooted:
		return []int{0}, nil
	case p.spec.AllRoots:
		return upTo(world), nil
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

// series plans a row for every size at which each rank has an element. Sizes that come to the
// same count are one row.
func (p *perfPlan) series(t perfTarget, c collective.Call) error {
	last, small := -1, 0
	for _, size := range p.sizes {
		count, elems := counts(p.what, c, size)
		if count == 0 && largest(p.what, c) > 0 {
			small++
			continue
		}
		if count == last {
			continue
		}
		last, c.Elems = count, elems
		if err := p.point(t, c, count); err != nil {
			return err
		}
	}
	if small > 0 {
		p.note("%s below %v have no element of %v for each of %d ranks", sizes(small), parts(p.what, c)*unit.Bytes(c.Type.Size()), c.Type, c.World)
	}
	return nil
}

func sizes(n int) string {
	if n == 1 {
		return "1 size"
	}
	return fmt.Sprintf("%d sizes", n)
}

// largest is the most elements that a rank brings or ends with, when each rank has one for each
// rank.
func largest(what *collective.Collective, c collective.Call) int {
	c.Elems = c.World
	most := 0
	for r := range c.World {
		most = max(most, what.In(c, r), what.Out(c, r))
	}
	return most
}

// parts is how many times the count of a call its largest vector has: all ranks together, where
// a rank has a part of what another has or comes to have, or where vectors are of a block for each
// rank, else once. So nccl counts elements.
func parts(what *collective.Collective, c collective.Call) unit.Bytes {
	if what.Blocks {
		return unit.Bytes(c.World)
	}
	most := largest(what, c)
	c.Elems = c.World
	for r := range c.World {
		for _, n := range []int{what.In(c, r), what.Out(c, r)} {
			if n > 0 && n < most {
				return unit.Bytes(c.World)
			}
		}
	}
	return 1
}

// counts are what the call of nccl counts for a size, and what a rank brings to the call here:
// the first is a part of the largest vector, and the second that vector or a part of it.
func counts(what *collective.Collective, c collective.Call, size unit.Bytes) (count, elems int) {
	most := largest(what, c)
	if most == 0 {
		return 0, 0
	}
	n := parts(what, c)
	count = int(size / (n * unit.Bytes(c.Type.Size())))
	return count, count * int(n) * c.World / most
}

// point plans a row, and its runs.
func (p *perfPlan) point(t perfTarget, c collective.Call, count int) error {
	row := &PerfRow{
		Size: unit.Bytes(count) * parts(p.what, c) * unit.Bytes(c.Type.Size()), Count: count, Type: c.Type.String(), RedOp: "none", Root: -1,
		Algorithm: t.plan.Name, Ranks: c.World, Settings: t.settings,
	}
	if p.what.Reduces {
		row.RedOp = c.Op.String()
	}
	if p.what.Rooted {
		row.Root = c.Root
	}
	if p.sweep.Timed {
		row.Launch = t.plan.Start
	}
	refused := refusal(t.plan.Algorithm, c)
	if refused != nil && p.sweep.All {
		p.refused.add(named(row.Algorithm, row.Settings), refused.Error(), row.Size.String())
		return nil
	}
	p.rows = append(p.rows, row)
	if on := t.limits; on.solver != nil {
		on.call = c
		p.bounded[row] = on
	}
	if refused != nil {
		row.Note = refused.Error()
		return nil
	}
	for _, inPlace := range []bool{false, true} {
		if inPlace && !fitsInPlace(p.what, c) || !inPlace && !t.apart {
			continue
		}
		x := *t.x
		x.NElem, x.DType, x.Op = max(1, c.Elems), c.Type, c.Op
		x.program = bench.Once(inPlace, c.Root)
		job := &perfJob{row: len(p.rows) - 1, setting: &x, what: p.what, call: c, inPlace: inPlace, launch: row.Launch, length: int64(c.Elems) * int64(c.Type.Size())}
		switch moved := data(p.what, c, inPlace); {
		case !p.sweep.Check:
		case moved <= p.spec.Memory:
			x.VerifyData, job.bytes = true, moved
		case inPlace || !fitsInPlace(p.what, c) || data(p.what, c, true) > p.spec.Memory:
			row.Note = fmt.Sprintf("not checked: the data of all ranks is %v, and --mem %v", moved, p.spec.Memory)
		default:
			row.Note = fmt.Sprintf("out of place not checked: the data of all ranks is %v, and --mem %v", moved, p.spec.Memory)
		}
		p.jobs = append(p.jobs, job)
	}
	return nil
}

// refusal is why an algorithm cannot perform a call. Its author may be the user: a panic is one
// reason more.
func refusal(a *algorithm.Algorithm, c collective.Call) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its Check panicked: %v", v)
		}
	}()
	return a.Refuses(c)
}

// fitsInPlace reports whether contributions and results can share memory.
func fitsInPlace(what *collective.Collective, c collective.Call) bool {
	return !what.Apart && c.Elems > 0 && (what.InPlace != nil || mostOut(what, c) <= c.Elems)
}

func mostOut(what *collective.Collective, c collective.Call) int {
	most := 0
	for r := range c.World {
		most = max(most, what.Out(c, r))
	}
	return most
}

// data is the size of the contributions of all ranks, and of what they end with if that goes
// elsewhere.
func data(what *collective.Collective, c collective.Call, inPlace bool) unit.Bytes {
	n := c.Elems + mostOut(what, c)
	if inPlace {
		_, _, room := what.Shared(c, 0)
		n = max(room, c.Elems)
	}
	return unit.Bytes(n) * unit.Bytes(c.World) * unit.Bytes(c.Type.Size())
}
