package cli

import (
	"context"
	"errors"

	"kernbench/fault"
	"kernbench/lab"
)

// The exit status of the process.
const (
	ExitOK          = 0
	ExitWrong       = 1   // a rank's result failed its verification
	ExitUsage       = 2   // the command line, a configuration or a file is at fault
	ExitFault       = 3   // the kernel is at fault: deadlock, use after credit, ...
	ExitInternal    = 4   // kernbench itself is at fault
	ExitInterrupted = 130 // as a shell reports a process that Ctrl-C ended
)

// errWrong ends a verb whose report has told what is wrong.
var errWrong = errors.New("the result is wrong")

func exitStatus(ctx context.Context, err error) int {
	switch {
	case errors.Is(err, errWrong):
		return ExitWrong
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	case isFault(err):
		return ExitFault
	case is[*lab.InternalError](err):
		return ExitInternal
	}
	return ExitUsage
}

// isFault tells whether what a kernel did stopped the run.
func isFault(err error) bool {
	for _, is := range faults {
		if is(err) {
			return true
		}
	}
	return false
}

// faults has a test for each type of package fault.
var faults = []func(error) bool{
	is[*fault.BadAddress], is[*fault.Deadlock], is[*fault.InvalidDirection], is[*fault.Mismatch],
	is[*fault.Misuse], is[*fault.NoData], is[*fault.Panic], is[*fault.RingMemory], is[*fault.ScratchFull],
	is[*fault.Unreceived], is[*fault.Unwritten], is[*fault.UseAfterCredit], is[*fault.UseAfterFree],
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
