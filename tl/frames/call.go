package frames

import "sync/atomic"

// Call is a place in the code, told apart by the address to which what is called there returns.
type Call struct {
	ret  uintptr
	line string // "" of one that is no kernel's
}

// NewCall makes a call of the text of its line, such as "ring.txt:12".
func NewCall(line string) *Call { return &Call{line: line} }

// Text is the line of a call, or "" of nil.
func (k *Call) Text() string {
	if k == nil {
		return ""
	}
	return k.line
}

// depth is how many frames are looked at: the kernel is seldom more than four away.
const depth = 12

// Caller is the innermost call by a kernel, or nil. An instruction may ask for it, so it looks at
// return addresses only.
func Caller() *Call {
	var stack [depth]uintptr
	returns(&stack)
	for _, ret := range stack {
		if ret == 0 {
			break
		}
		if k := callAt(ret); k.line != "" {
			return k
		}
	}
	return nil
}

// calls has what was found out about return addresses, for all kernels of the process: it looks up
// far more than it adds. An address is at one of the places behind that which its bits choose.
var calls [1 << callBits]atomic.Pointer[Call]

const (
	callBits   = 13
	callPlaces = 16
)

// callAt is the call that returns to an address.
func callAt(ret uintptr) *Call {
	at := uint64(ret) * 0x9e3779b97f4a7c15 >> (64 - callBits)
	for i := range uint64(callPlaces) {
		place := &calls[(at+i)%(1<<callBits)]
		k := place.Load()
		if k == nil {
			k = newCall(ret)
			place.CompareAndSwap(nil, k) // another kernel may have been quicker: then it is found out again
			return k
		}
		if k.ret == ret {
			return k
		}
	}
	return newCall(ret)
}

func newCall(ret uintptr) *Call {
	// Behind an address that nothing lies at, Frames shows what was inlined at ret.
	return &Call{ret, kernelLine([]uintptr{ret, 1})}
}

// File returns the file of a line that a call of this process has as its text, as the compiler has
// recorded it: where the source may be found. It returns "" if there is no such call, or if the
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
