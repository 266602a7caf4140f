package limits

import (
	"context"

	"kernbench/check/bound"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/lab/run"
	"kernbench/program"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// trafficBudget is the most memory of an algorithm's record.
const trafficBudget = 256 * unit.MiB

// Transfers returns what an algorithm moves in a call, with results in place or in memory of their
// own. It records the kernels of all ranks, and executes nothing. The error is the reason if they
// cannot be recorded: they read values, fail, or need too much memory.
func Transfers(ctx context.Context, x *run.Job, algorithm string, c collective.Call, inPlace bool) ([]bound.Transfer, error) {
	job, err := x.Using(algorithm, nil)
	if err != nil {
		return nil, err
	}
	var all []bound.Transfer
	err = job.OneCall(c, inPlace).Recorded(ctx, program.Options{Places: true, Budget: trafficBudget},
		func(_ *device.Call, l *launch.Launch, p *program.Program) error {
			all = bound.Transfers(x.Machine, l, p)
			return nil
		})
	return all, err
}
