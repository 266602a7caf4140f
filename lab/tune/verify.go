package tune

import (
	"context"
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// verify removes wrong algorithms from a group. It runs each algorithm with data on few elements
// and checks the result.
func (t *tuner) verify(ctx context.Context, g *tuneGroup) error {
	var jobs []*sweep.Case
	refused, keys := map[string]string{}, map[*sweep.Case]string{}
	seen := map[string]bool{}
	for _, v := range g.targets {
		if seen[v.name] {
			continue
		}
		seen[v.name] = true
		c, err := sweep.FewElements(g.what, v.plan)
		if err != nil {
			return err // it was asked before
		}
		c.Op, c.Root = g.call.Op, g.call.Root
		key := "verdict " + v.key(t.spec.Program, g.machine, g.what, c, g.inPlace, -1)
		found, known, err := t.store.Verdict(key)
		if err != nil {
			return err
		}
		if known {
			refused[v.name] = found
			continue
		}
		j := g.job(v, c)
		j.Job = j.Job.Verified(true)
		keys[j], jobs = key, append(jobs, j)
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	sweep.SideBySide(inner, jobs, 0, func(j *sweep.Case, as *sweep.Placement) {
		if err := t.verdict(j, keys[j], as, refused); err != nil {
			stop(err)
		}
	})
	if err := firstOf(ctx, inner); err != nil {
		return err
	}
	for _, v := range g.targets {
		if why := refused[v.name]; why != "" && v.settings == "" {
			t.out.Wrong = append(t.out.Wrong, fmt.Sprintf("%s of %d ranks of %s: %s", v.name, g.call.World, g.machine.name, why))
		}
	}
	before := len(g.targets)
	g.targets = slices.DeleteFunc(g.targets, func(v *tuneTarget) bool { return refused[v.name] != "" })
	t.done += int64((before - len(g.targets)) * len(g.sizes))
	return nil
}

// verdict keeps what a check found.
func (t *tuner) verdict(j *sweep.Case, key string, as *sweep.Placement, refused map[string]string) error {
	name, why := j.Job.Algorithm, ""
	switch {
	case run.Endless(as.Err): // the limit is of this command and not of the point
		return as.Err
	case fault.Is(as.Err):
		why = as.Error
	case as.Err != nil:
		return fmt.Errorf("algorithm %s: %w", name, as.Err)
	case as.Wrong != nil && *as.Wrong > 0:
		if why = fmt.Sprintf("%d elements are wrong", *as.Wrong); j.Again() != "" {
			why += "; " + j.Again()
		}
	}
	refused[name] = why
	return t.store.PutVerdict(key, t.spec.Program, name, j.Call.World, j.Call.Elems, why)
}

// firstOf returns what ended work on inner: the interruption of all, or what went wrong in it.
func firstOf(ctx, inner context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return context.Cause(inner)
}
