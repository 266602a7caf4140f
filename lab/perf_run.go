package lab

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"kernbench/exec"
	"kernbench/fault"
	"kernbench/unit"
)

// measure makes all runs, and hands out rows in the order of the plan. Rows that are finished when
// ctx ends the rest come too.
func (p *perfPlan) measure(ctx context.Context, row func(*PerfRow)) error {
	left := make([]int, len(p.rows)) // runs of each row
	for _, j := range p.jobs {
		left[j.row]++
	}
	out := 0
	flush := func() {
		for ; out < len(p.rows) && left[out] == 0; out++ {
			row(p.rows[out])
		}
		if p.spec.Progress != nil {
			p.spec.Progress(Progress{Phase: "perf", Done: int64(out), Total: int64(len(p.rows))})
		}
	}
	flush()
	var stalled error
	sideBySide(ctx, p.jobs, p.spec.Memory, func(j *perfJob, as *Placement) {
		left[j.row]--
		r := p.rows[j.row]
		if j.inPlace {
			r.InPlace = as
		} else {
			r.OutOfPlace = as
		}
		if as.Wrong != nil && *as.Wrong > 0 && r.Note == "" {
			r.Note = j.again()
		}
		if is[*fault.Stalled](as.Err) {
			stalled = as.Err
		}
		flush()
	})
	for ; out < len(p.rows); out++ {
		if left[out] == 0 {
			row(p.rows[out])
		}
	}
	return cmp.Or(stalled, ctx.Err())
}

// sideBySide makes runs, as many beside each other as the program may use processors and the
// memory for data allows. The first processor takes them in their order, so that whoever waits for the
// first does not wait for long; all others take the longest that is left, so that none is alone with that at the
// end. Each is handed out when it ended, from the goroutine of the caller; one that ctx ended is not.
func sideBySide(ctx context.Context, jobs []*perfJob, memory unit.Bytes, ended func(*perfJob, *Placement)) {
	type end struct {
		job *perfJob
		as  *Placement
	}
	left := slices.Clone(jobs)
	var inOrder *perfJob // that the first processor has
	running, inUse := 0, unit.Bytes(0)
	ends := make(chan end)
	for {
		for ctx.Err() == nil && len(left) > 0 && running < runtime.GOMAXPROCS(0) {
			at := 0
			if inOrder != nil {
				at = longest(left, memory-inUse)
			} else if running > 0 && inUse+left[0].bytes > memory {
				at = none
			}
			if at == none {
				break
			}
			j := left[at]
			if inOrder == nil {
				inOrder = j
			}
			left = slices.Delete(left, at, at+1)
			running, inUse = running+1, inUse+j.bytes
			go func() { ends <- end{j, j.run(ctx)} }()
		}
		if running == 0 {
			return
		}
		e := <-ends
		if e.job == inOrder {
			inOrder = nil
		}
		running, inUse = running-1, inUse-e.job.bytes
		if e.as.Err == nil || ctx.Err() == nil {
			ended(e.job, e.as)
		}
		if is[*fault.Stalled](e.as.Err) {
			left = nil // its goroutine still runs, and further runs would add theirs
		}
	}
}

// none is the place of no job.
const none = -1

// longest is the place of the longest job, the first of several, of those whose data have room.
func longest(jobs []*perfJob, room unit.Bytes) int {
	at := none
	for i, j := range jobs {
		if j.bytes <= room && (at == none || j.length > jobs[at].length) {
			at = i
		}
	}
	return at
}

// again is what shows a wrong result once more, and where it is: the usual way to run an algorithm,
// with root 0 and results where the contributions are, if they can go there.
func (j *perfJob) again() string {
	if j.call.Root != 0 || j.inPlace && j.what.InPlace != nil || !j.inPlace && fitsInPlace(j.what, j.call) {
		return ""
	}
	x := *j.setting
	x.Ranks = j.call.World
	return "again: " + x.command()
}

// run makes one run.
func (j *perfJob) run(ctx context.Context) *Placement {
	out, err := j.setting.once(ctx, pass{quiet: true})
	at := &Placement{Err: err}
	if err != nil {
		at.Error = err.Error()
		return at
	}
	if at.Time = out.launches[0].Result.Duration() + j.launch; j.setting.row.Can(exec.Clock) && at.Time > 0 {
		at.AlgBW = float64(j.what.Bytes(j.call)) / at.Time.Ns()
		at.BusBW = at.AlgBW * j.what.BusFactor(j.call.World)
	}
	j.messages, j.events = out.launches[0].Result.Messages, out.launches[0].Result.Events
	if j.setting.VerifyData {
		wrong := int64(0)
		for _, v := range out.judged[0].verdicts {
			wrong += int64(v.Wrong)
		}
		at.Wrong = &wrong
	}
	return at
}
