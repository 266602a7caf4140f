package run

import (
	"context"

	"kernbench/check/race"
	"kernbench/exec"
	"kernbench/fault"
)

// What a kernel does after an atomic depends on the value that it got, and the judge sees only the
// values of one schedule: a lock that lets two ranks in is seen where two come at once. So programs
// with atomics are judged in some random schedules too.

// more is what came of those schedules.
type more struct {
	judged int
	at     uint64 // the schedule with hazards or a fault; 0: none
	fault  error  // in that schedule
}

// mostMoreOps bounds the one-sided operations of all these schedules together.
const mostMoreOps = 400_000

// judgeMore judges random schedules until one has hazards or ends in a fault. The report of that
// one then stands for the run. The error is what kept it from its end.
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

// moreSchedules is how many schedules are judged besides that of the run.
func (x *Job) moreSchedules(out *Execution) int {
	rep := out.races
	if !rep.Atomics || rep.Total > 0 || rep.Unsettled || rep.Again || x.Schedule > 0 || !x.row.Can(exec.Schedules) {
		return 0
	}
	ops := int64(1)
	for _, l := range out.Launches {
		for _, t := range l.Result.Traffic {
			ops += t.Notifies + t.Waits + t.Atomics + t.Puts + t.Gets
		}
	}
	return int(min(race.MoreSchedules, mostMoreOps/ops))
}
