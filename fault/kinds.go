package fault

import "errors"

// Fault is implemented by every error of this package: a mistake of a kernel.
type Fault interface {
	error
	fault()
}

// Is reports whether err wraps a fault of a kernel.
func Is(err error) bool {
	_, ok := errors.AsType[Fault](err)
	return ok
}

// IsStalled reports whether a kernel was stopped because it issued nothing.
func IsStalled(err error) bool {
	_, ok := errors.AsType[*Stalled](err)
	return ok
}

func (*BadAddress) fault()       {}
func (*Deadlock) fault()         {}
func (*Early) fault()            {}
func (*InvalidDirection) fault() {}
func (*Mismatch) fault()         {}
func (*Misuse) fault()           {}
func (*NoData) fault()           {}
func (*NotMember) fault()        {}
func (*OutOfBounds) fault()      {}
func (*Released) fault()         {}
func (*Unsupported) fault()      {}
func (*Panic) fault()            {}
func (*RingMemory) fault()       {}
func (*ScratchFull) fault()      {}
func (*Unreceived) fault()       {}
func (*Unwritten) fault()        {}
func (*UseAfterCredit) fault()   {}
func (*UseAfterFree) fault()     {}
