package tl

import "sync/atomic"

// call is a place in the code, told apart by the address to which what is called there returns.
type call struct {
	ret  uintptr
	line string // "" of one that is no kernel's
}

func (k *call) text() string {
	if k == nil {
		return ""
	}
	return k.line
}

// calls has what was found out about return addresses, for all kernels of the process: it looks up
// far more than it adds. An address is at one of the places behind that which its bits choose.
var calls [1 << callBits]atomic.Pointer[call]

const (
	callBits   = 13
	callPlaces = 16
)

// callAt is the call that returns to an address.
func callAt(ret uintptr) *call {
	at := uint64(ret) * 0x9e3779b97f4a7c15 >> (64 - callBits)
	for i := range uint64(callPlaces) {
		place := &calls[(at+i)%(1<<callBits)]
		k := place.Load()
		if k == nil {
			k = newCall(ret)
			place.CompareAndSwap(nil, k) // somebody may have been quicker: then it is found out again
			return k
		}
		if k.ret == ret {
			return k
		}
	}
	return newCall(ret)
}

func newCall(ret uintptr) *call {
	// Behind an address that nothing lies at, Frames shows what was inlined at ret.
	return &call{ret, kernelLine([]uintptr{ret, 1})}
}
