package run

import (
	"context"
	"slices"

	"kernbench/check/race"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/tl/answers"
)

// What a kernel does after an atomic depends on the value that it got, and the judge sees only the
// values of one schedule. A lock that admits two ranks is seen only where two come at once. So
// programs with atomics are judged in some random schedules too.

// more holds what came of those schedules.
type more struct {
	tried  int // runs in which atomics returned other values, and kernels issued the same
	judged int
	at     uint64 // the schedule with hazards or a fault; 0: none
	fault  error  // in that schedule
}

// mostMore bounds the records of the judge in all these schedules together.
const mostMore = 200_000

// judgeMore judges random schedules until one has hazards or ends in a fault. The report of that
// schedule is then the report of the run. The error reports why a schedule could not be judged.
func (x *Job) judgeMore(ctx context.Context, out *Execution) error {
	for k := range uint64(x.moreSchedules(out)) {
		other, err := x.judged(ctx, Pass{Quiet: true, schedule: k + 1})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !fault.Is(err):
			return nil // what keeps a repetition from its end is no verdict on the program
		}
		out.more.judged++
		if other.races.Total > 0 {
			out.races, out.more.at = other.races, k+1
			return nil
		}
		if err != nil {
			out.more.at, out.more.fault = k+1, err
			return nil
		}
	}
	return nil
}

// moreSchedules returns how many schedules are judged besides that of the run.
func (x *Job) moreSchedules(out *Execution) int {
	rep := out.races
	if !rep.Atomics || rep.Total > 0 || rep.Unsettled || rep.Again || x.Schedule > 0 || !x.row.Can(exec.Schedules) {
		return 0
	}
	return min(race.MoreSchedules, mostMore/max(rep.Records, 1))
}

// tryAnswers runs a program whose outcome depends on nothing but atomics with other answers of
// these. If kernels issue the same then, they do not act on the answers. The program is judged once
// more with that knowledge, and that report counts. The error reports why the program could not be
// judged.
func (x *Job) tryAnswers(ctx context.Context, out *Execution) error {
	rep := out.races
	if !rep.OnlyAtomics || rep.Unsettled || rep.Again || x.Edits != nil {
		return nil
	}
	tried := x.sameAnyway(ctx, rep.Records)
	if ctx.Err() != nil || tried == 0 {
		return ctx.Err()
	}
	again, err := x.judged(ctx, Pass{Quiet: true, schedule: x.Schedule, ignored: true})
	if err != nil || again.races.Unsettled || again.races.Again {
		return ctx.Err()
	}
	out.races, out.more.tried = again.races, tried
	return nil
}

// sameAnyway returns the number of runs with other answers in which kernels issued the same. It
// returns 0 if they did not in some run, or if the runs would take too many records. records is
// the number of one run.
func (x *Job) sameAnyway(ctx context.Context, records int) int {
	if 3*records > mostMore {
		return 0
	}
	issued := func(a *answers.Answers, most uint32) (answers.Issued, bool) {
		_, err := x.answering(a, most).Execute(ctx, Pass{Quiet: true, schedule: x.Schedule})
		i := a.Issued()
		return i, err == nil && !i.GaveUp
	}
	own, ok := issued(&answers.Answers{}, 0)
	if !ok || own.Negative {
		return 0
	}
	tried, span := 0, max(own.MaxRead+1, 2)
	for shift := int64(1); shift < span; shift = min(2*shift, max(span-1, shift+1)) {
		if (tried+3)*records > mostMore {
			return 0
		}
		other, ok := issued(&answers.Answers{Shift: shift, Span: span, Fail: true}, 4*own.MaxOps+64)
		if !ok || !slices.Equal(own.Kernels, other.Kernels) {
			return 0
		}
		tried++
	}
	return tried
}
