package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// verify removes wrong algorithms from a group. It runs each algorithm with data on few elements
// and checks the result. If the rings do not fit with the first settings, it tries the next ones,
// and the settings that do not fit are removed.
func (t *tuner) verify(ctx context.Context, g *tuneGroup) error {
	settings := map[string][]*tuneTarget{}
	var names []string
	for _, v := range g.targets {
		if settings[v.name] == nil {
			names = append(names, v.name)
		}
		settings[v.name] = append(settings[v.name], v)
	}
	c := check{tuner: t, group: g, wrong: map[string]string{}, tooLarge: map[*tuneTarget]string{}}
	for at := 0; ; at++ {
		var next []*tuneTarget
		for _, name := range names {
			if all := settings[name]; at < len(all) && (at == 0 || c.tooLarge[all[at-1]] != "") {
				next = append(next, all[at])
			}
		}
		if len(next) == 0 {
			break
		}
		if err := c.run(ctx, next); err != nil {
			return err
		}
	}
	c.report(names)
	before := len(g.targets)
	g.targets = slices.DeleteFunc(g.targets, func(v *tuneTarget) bool { return c.wrong[v.name] != "" || c.tooLarge[v] != "" })
	t.done += int64((before - len(g.targets)) * len(g.sizes))
	return nil
}

// check has the results of checking the algorithms of a group.
type check struct {
	*tuner
	group    *tuneGroup
	wrong    map[string]string      // by algorithm: what is wrong; "": nothing
	tooLarge map[*tuneTarget]string // settings with which the rings do not fit, and why
}

// run checks algorithms, unless the store has their verdicts.
func (c *check) run(ctx context.Context, all []*tuneTarget) error {
	g := c.group
	var jobs []*sweep.Case
	keys, of := map[*sweep.Case]string{}, map[*sweep.Case]*tuneTarget{}
	for _, v := range all {
		few, err := sweep.FewElements(g.what, v.plan)
		if err != nil {
			return err // it was asked before
		}
		few.Op, few.Root = g.call.Op, g.call.Root
		key := "verdict " + v.key(c.spec.Program, g.machine, g.what, few, g.inPlace, -1)
		found, known, err := c.store.Verdict(key)
		if err != nil {
			return err
		}
		if known {
			c.wrong[v.name] = found
			continue
		}
		j := g.job(v, few)
		j.Job = j.Job.Verified(true)
		keys[j], of[j], jobs = key, v, append(jobs, j)
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	sweep.SideBySide(inner, jobs, 0, func(j *sweep.Case, as *sweep.Placement) {
		if why := sweep.RingsTooLarge(as.Err); why != "" {
			c.tooLarge[of[j]] = why // not stored: the launch fails before it simulates anything
		} else if err := c.verdict(j, keys[j], as); err != nil {
			stop(err)
		}
	})
	return firstOf(ctx, inner)
}

// report lists the wrong algorithms, and notes the first settings of each that do not fit.
func (c *check) report(names []string) {
	g := c.group
	for _, name := range names {
		if why := c.wrong[name]; why != "" {
			c.out.Wrong = append(c.out.Wrong, fmt.Sprintf("%s of %d ranks of %s: %s", name, g.call.World, g.machine.name, why))
		}
	}
	first, more := map[string]*tuneTarget{}, map[string]int{}
	for _, v := range g.targets {
		switch {
		case c.tooLarge[v] == "":
		case first[v.name] == nil:
			first[v.name] = v
		default:
			more[v.name]++
		}
	}
	for _, name := range names {
		if v := first[name]; v != nil {
			settings := cmp.Or(v.settings, "as configured")
			if n := more[name]; n > 0 {
				settings += fmt.Sprintf(" (and %d more)", n)
			}
			c.note("skipped on %s: algorithm %s, %s: %s", g.machine.name, name, settings, c.tooLarge[v])
		}
	}
}

// verdict keeps what a check found.
func (c *check) verdict(j *sweep.Case, key string, as *sweep.Placement) error {
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
	c.wrong[name] = why
	return c.store.PutVerdict(key, c.spec.Program, name, j.Call.World, j.Call.Elems, why)
}

// firstOf returns what ended work on inner: the interruption of all, or what went wrong in it.
func firstOf(ctx, inner context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return context.Cause(inner)
}
