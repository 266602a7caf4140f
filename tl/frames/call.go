package frames

import "sync/atomic"

// Call is a place in the code, identified by the return address of the call.
type Call struct {
	ret  uintptr
	line string // "" of one that is no kernel's
}

// NewCall makes a call of the text of its line, such as "ring.txt:12".
func NewCall(line string) *Call { return &Call{line: line} }

// Text returns the line of a call, or "" of nil.
func (k *Call) Text() string {
	if k == nil {
		return ""
	}
	return k.line
}

// depth is the number of frames examined: the kernel is rarely more than four away.
const depth = 12

// Caller returns the innermost call by a kernel, or nil. It can be needed for every instruction, so
// it uses return addresses only.
func Caller() *Call {
	var stack [depth]uintptr
	returns(&stack)
	for i := range stack { // without a copy
		ret := stack[i]
		if ret == 0 {
			break
		}
		if k := callAt(ret); k.line != "" {
			return k
		}
	}
	return nil
}

// calls caches the calls of return addresses, for all kernels of the process. Lookups are far more
// frequent than insertions. An address is stored at or after the index given by its bits.
var calls [1 << callBits]atomic.Pointer[Call]

const (
	callBits   = 13
	callPlaces = 16
)

// callAt returns the call that returns to an address.
func callAt(ret uintptr) *Call {
	at := uint64(ret) * 0x9e3779b97f4a7c15 >> (64 - callBits)
	for i := range uint64(callPlaces) {
		place := &calls[(at+i)%(1<<callBits)]
		k := place.Load()
		if k == nil {
			k = newCall(ret)
			place.CompareAndSwap(nil, k) // another kernel may have stored it meanwhile: then it is computed again
			return k
		}
		if k.ret == ret {
			return k
		}
	}
	return newCall(ret)
}

func newCall(ret uintptr) *Call {
	// After an address without code, Frames shows the calls inlined at ret.
	return &Call{ret, kernelLine([]uintptr{ret, 1})}
}

// File returns the file of a line that a call of this process has as its text, as the compiler has
// recorded it. The source may be found there. It returns "" if there is no such call, or if the
// line is not one of Go.
func File(line string) string {
	for i := range calls {
		if k := calls[i].Load(); k != nil && line != "" && k.line == line {
			file, _ := kernelPlace([]uintptr{k.ret, 1})
			return file
		}
	}
	return ""
}
