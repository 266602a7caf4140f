package perf

import (
	"cmp"
	"context"

	"kernbench/fault"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// progress reports how much of a phase is done.
func (p *perfPlan) progress(phase string, done, total int) {
	if p.spec.Progress != nil {
		p.spec.Progress(run.Progress{Phase: phase, Done: int64(done), Total: int64(total)})
	}
}

// measure makes all runs, and hands out rows in the order of the plan. If ctx ends it, rows that
// are already finished are handed out too.
func (p *perfPlan) measure(ctx context.Context, row func(*Row)) error {
	left := make([]int, len(p.rows)) // runs of each row
	jobs, lines := p.divide()
	for _, j := range jobs {
		left[j.Row]++
	}
	out := 0
	flush := func() {
		for ; out < len(p.rows) && left[out] == 0; out++ {
			lines.complete(p.rows[out])
			if !p.tuned[p.rows[out]].anchor {
				row(p.rows[out])
			}
		}
		p.progress("perf", out, len(p.rows))
	}
	flush()
	var stalled error
	sweep.SideBySide(ctx, jobs, p.spec.Memory, func(j *sweep.Case, as *sweep.Placement) {
		left[j.Row]--
		r := p.rows[j.Row]
		r.measured(j, as)
		if fault.IsStalled(as.Err) {
			stalled = as.Err
		}
		flush()
	})
	for ; out < len(p.rows); out++ {
		if left[out] == 0 && !p.tuned[p.rows[out]].anchor {
			row(p.rows[out])
		}
	}
	return cmp.Or(stalled, ctx.Err())
}
