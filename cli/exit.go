package cli

import (
	"context"
	"errors"

	"kernbench/fault"
	"kernbench/lab/plans"
	"kernbench/lab/run"
	"kernbench/selfbench"
)

// The exit status of the process.
const (
	ExitOK          = 0
	ExitWrong       = 1   // a rank's result failed its verification
	ExitUsage       = 2   // the command line, a configuration or a file is invalid
	ExitFault       = 3   // the kernel is invalid: deadlock, use after credit, ...
	ExitInternal    = 4   // internal error of kernbench
	ExitInterrupted = 130 // as a shell reports a process that Ctrl-C ended
)

// reported is an error that the report has already printed.
type reported struct{ error }

func (t reported) Unwrap() error { return t.error }

// errWrong ends a verb after its report has printed what is wrong.
var errWrong = errors.New("the result is wrong")

func exitStatus(ctx context.Context, err error) int {
	switch {
	case errors.Is(err, errWrong):
		return ExitWrong
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	case is[*run.InternalError](err), // also one during the explanation of a fault
		is[*selfbench.Failure](err):
		return ExitInternal
	case fault.Is(err), is[errHangs](err), is[*plans.HangError](err):
		return ExitFault
	}
	return ExitUsage
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
