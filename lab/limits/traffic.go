package limits

import (
	"context"
	"errors"

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
	return transfers(ctx, x, algorithm, c, inPlace, 0)
}

// FirstTransfers is Transfers for a number of instructions of the first ranks; 0: all. Limits by
// what these move are limits of the call. It returns false if instructions are left.
func FirstTransfers(ctx context.Context, x *run.Job, algorithm string, c collective.Call, inPlace bool,
	instructions int64) (first []bound.Transfer, all bool, err error) {
	first, err = transfers(ctx, x, algorithm, c, inPlace, instructions)
	if errors.Is(err, bound.ErrPart) {
		return first, false, nil
	}
	return first, err == nil, err
}

func transfers(ctx context.Context, x *run.Job, algorithm string, c collective.Call, inPlace bool,
	instructions int64) (all []bound.Transfer, err error) {
	job, err := x.Using(algorithm, nil)
	if err != nil {
		return nil, err
	}
	err = job.OneCall(c, inPlace).FirstLaunch(ctx, func(_ *device.Call, l *launch.Launch) (err error) {
		all, err = bound.Transfers(ctx, x.Machine, l, bound.Budget{Memory: trafficBudget, Instructions: instructions})
		return err
	})
	return all, err
}
