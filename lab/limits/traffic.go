package limits

import (
	"context"

	"kernbench/check/bound"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/lab/run"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// trafficBudget is the memory that the list of an algorithm's transfers may take.
const trafficBudget = 256 * unit.MiB

// Transfers returns what an algorithm moves in a call, with results in place or in memory of their
// own. It runs the kernels of all ranks, and executes nothing. The error is why they cannot be run
// so: they ask, fail, or move between too many pairs of places.
func Transfers(ctx context.Context, x *run.Job, algorithm string, c collective.Call, inPlace bool) ([]bound.Transfer, error) {
	job, err := x.Using(algorithm, nil)
	if err != nil {
		return nil, err
	}
	var all []bound.Transfer
	err = job.OneCall(c, inPlace).FirstLaunch(ctx, func(_ *device.Call, l *launch.Launch) (err error) {
		all, err = bound.Transfers(ctx, x.Machine, l, trafficBudget)
		return err
	})
	return all, err
}
