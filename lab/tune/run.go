package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// sweep goes through the sizes of a group, the smallest first.
func (t *tuner) sweep(ctx context.Context, g *tuneGroup) error {
	t.progress(g)
	if err := t.verify(ctx, g); err != nil {
		return err
	}
	all := slices.Clone(g.targets)
	for at, s := range g.sizes {
		if at > 0 {
			g.thin(at - 1)
		}
		if at > 0 && s.size > t.spec.AllTo && g.sizes[at-1].size <= t.spec.AllTo {
			g.prune(at-1, t.spec.Best)
		}
		if s.size <= t.spec.MeasureTo {
			if err := t.measure(ctx, g, at); err != nil {
				return err
			}
		}
		if err := t.estimate(ctx, g, at); err != nil {
			return err
		}
		t.done += int64(len(all) - len(g.targets)) // that were not worth it
		if err := t.bounds(ctx, g, at); err != nil {
			return err
		}
		t.progress(g)
	}
	t.noteUnknown(g, all)
	return nil
}

func (t *tuner) progress(g *tuneGroup) {
	if t.spec.Progress != nil {
		t.spec.Progress(run.Progress{Phase: fmt.Sprintf("tune %s, %d ranks of %s", g.what.Name, g.call.World,
			g.machine.name), Done: t.done, Total: t.total})
	}
}

// tuneRun is a run for all targets to which it is one.
type tuneRun struct {
	points  []*Point
	targets []*tuneTarget
	job     *sweep.Case
	expect  int64 // events
}

// measure brings the points of one size: from the store, or by simulation.
func (t *tuner) measure(ctx context.Context, g *tuneGroup, at int) error {
	runs := map[string]*tuneRun{}
	var order []*tuneRun
	for _, v := range g.targets {
		p := g.point(t, v, at)
		c := g.call
		c.Elems = p.Elems
		if sweep.Refusal(v.plan, c) != nil {
			t.done++
			continue
		}
		known, err := t.store.Find(t.out.Run, p.Key)
		if err != nil {
			return err
		}
		if known != nil {
			v.points[at] = known
			t.out.Points, t.out.Found, t.done = t.out.Points+1, t.out.Found+1, t.done+1
			if known.Error != "" {
				t.failed(known)
			}
			continue
		}
		expect := v.expect(g, at)
		if v.skipped = v.skipped || expect > t.spec.Budget; v.skipped {
			t.done++
			continue
		}
		same := v.key(t.spec.Program, g.machine, g.what, c, g.inPlace, p.Size)
		r := runs[same]
		if r == nil {
			r = &tuneRun{job: g.job(v, c), expect: expect}
			runs[same], order = r, append(order, r)
		}
		r.points, r.targets = append(r.points, p), append(r.targets, v)
	}
	// The longest first, so that no processor waits for one that began last.
	slices.SortStableFunc(order, func(a, b *tuneRun) int { return cmp.Compare(b.expect, a.expect) })
	of, jobs := map[*sweep.Case]*tuneRun{}, []*sweep.Case{}
	for _, r := range order {
		of[r.job], jobs = r, append(jobs, r.job)
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	sweep.SideBySide(inner, jobs, 0, func(j *sweep.Case, as *sweep.Placement) {
		if err := t.ended(of[j], at, as); err != nil {
			stop(err)
		}
		t.progress(g)
	})
	return firstOf(ctx, inner)
}

// ended keeps what came out of a run.
func (t *tuner) ended(r *tuneRun, at int, as *sweep.Placement) error {
	if run.IsInternal(as.Err) || run.Endless(as.Err) {
		return as.Err
	}
	t.out.Simulated++
	for i, p := range r.points {
		p.Time, p.Messages, p.Events, p.Error = as.Time, r.job.Messages, r.job.Events, as.Error
		if p.Error != "" {
			t.failed(p)
		}
		if err := t.store.Put(t.out.Run, p); err != nil {
			return err
		}
		r.targets[i].points[at] = p
		t.out.Points, t.done = t.out.Points+1, t.done+1
	}
	return nil
}

// failed counts a point, and notes what kept it from its end, once for each algorithm.
func (t *tuner) failed(p *Point) {
	t.out.Failed++
	first, _, _ := strings.Cut(p.Error, "\n")
	if at := p.Topology + " " + p.Algorithm; !t.reported[at] {
		t.reported[at] = true
		with := ""
		if p.Settings != "" {
			with = " with " + p.Settings
		}
		t.note("%s: %s of %v%s: %s", p.Topology, p.Algorithm, p.Size, with, first)
	}
}

// expect estimates the events that the simulation of a size will take from the size before: more
// bytes are more messages. A message without events counts as one. It returns 0 if unknown.
func (v *tuneTarget) expect(g *tuneGroup, at int) int64 {
	for i := at - 1; i >= 0; i-- {
		if p := v.points[i]; p != nil && p.Error == "" && !p.Estimated {
			return sweep.MulDiv(max(p.Events, p.Messages), int64(g.sizes[at].elems), max(1, int64(g.sizes[i].elems)))
		}
	}
	return 0
}
