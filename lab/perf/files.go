package perf

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/exec"
	"kernbench/frontend/plan"
	"kernbench/lab/plans"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// files separates the programs of other tools from the algorithms of a spec.
func files(s *Spec) (names []string) {
	s.Algorithms = slices.DeleteFunc(slices.Clone(s.Algorithms), func(name string) bool {
		foreign := plans.InPlaceOfAlgorithm(name)
		if foreign {
			names = append(names, name)
		}
		return foreign
	})
	return names
}

// addFile plans the rows of a program of another tool. They are timed here, because they have
// another model, and a call takes milliseconds.
func (p *perfPlan) addFile(ctx context.Context, name string) error {
	if err := p.executor.Needs(exec.Clock); err != nil {
		return fmt.Errorf("%s: a program of another tool is timed, and %w", name, err)
	}
	if len(p.spec.Vary) > 0 {
		return fmt.Errorf("%s: a program of another tool has no settings to vary", name)
	}
	base := &p.spec.Base
	l, err := plans.Load(plans.Spec{File: name, Topology: base.Topology, Sets: base.Sets, Command: base.Command})
	if err != nil {
		return err
	}
	of := l.Verdict.Program
	switch {
	case of.Collective != p.what.Name:
		return fmt.Errorf("%s performs %s, not %s", name, of.Collective, p.what.Name)
	case base.Ranks > 0 && base.Ranks != of.World || p.sweep.Ranks > 0 && len(p.sweep.Algorithms) > 0 && p.sweep.Ranks != of.World:
		return fmt.Errorf("%s is for %d ranks, and the others have %d", name, of.World, max(base.Ranks, p.sweep.Ranks))
	}
	if len(p.sweep.Algorithms) == 0 {
		p.sweep.Ranks, p.sweep.Machine = of.World, l.Machine()
	}
	p.sweep.Algorithms = append(p.sweep.Algorithms, name)
	p.note("%s is timed by the model of thread blocks (docs/programs.md), library algorithms by the simulator", name)
	if warning := l.Crowded(); warning != "" {
		p.note("%s: %s", name, warning)
	}
	for _, typ := range p.spec.Types {
		last := -1
		for _, size := range p.sizes {
			c := collective.Call{World: of.World, Type: typ}
			count, elems := sweep.Counts(p.what, c, size)
			if count == 0 || count == last {
				continue
			}
			last, c.Elems = count, elems
			row := &Row{
				Size: unit.Bytes(count) * sweep.Parts(p.what, c) * unit.Bytes(typ.Size()), Count: count,
				Type: typ.String(), RedOp: "none", Root: -1,
				Algorithm: name, Ranks: of.World, Settings: []sweep.Setting{},
			}
			if p.what.Reduces {
				row.RedOp = "sum"
			}
			if err := p.timeFile(ctx, l, row); err != nil {
				return err
			}
			p.rows = append(p.rows, row)
		}
	}
	return nil
}

// timeFile times a call in each of the places that a program allows.
func (p *perfPlan) timeFile(ctx context.Context, l *plans.Loaded, row *Row) error {
	for _, inPlace := range l.Verdict.Program.Modes {
		r, err := l.In(inPlace).Time(ctx, row.Size)
		if no, is := errors.AsType[*plans.SizeError](err); is {
			row.Note = no.Reason
			continue
		}
		if err != nil {
			return err
		}
		as := &sweep.Placement{}
		if row.Launch = r.Model.Launch; r.Deadlock != nil {
			as.Err = r.Hangs()
			as.Error = as.Err.Error()
		} else {
			as.Time, as.AlgBW, as.BusBW = r.Time, r.AlgBW, r.BusBW
			as.Wrong = wrongOf(l)
		}
		if v := l.Verdict.Verdicts[0]; v != plan.OK {
			row.Note = fmt.Sprintf("%v: kernbench import %s", v, row.Algorithm)
		}
		if inPlace {
			row.InPlace = as
		} else {
			row.OutOfPlace = as
		}
	}
	return nil
}

// wrongOf returns the number of wrong chunks in a verdict, at least one if anything is wrong.
func wrongOf(l *plans.Loaded) *int64 {
	wrong := int64(0)
	for _, c := range l.Verdict.Calls {
		wrong = max(wrong, int64(c.Cells-c.Right))
	}
	if wrong == 0 && !l.Verdict.OK() {
		wrong = 1
	}
	return &wrong
}
