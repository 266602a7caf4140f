package race

import "unsafe"

// This file compares and joins times two at a time, in the halves of a 64-bit word. Invariant:
// times are less than 1<<31 (see agent.tick), so the highest bit of each half is free.

const (
	lanes    = 2
	highBits = 1<<31 | 1<<63
)

// pair reads two times.
func pair(t []uint32, i int) *uint64 { return (*uint64)(unsafe.Pointer(&t[i : i+lanes][0])) }

// firstLater returns the first place at which t is later than own, which is as long, or their
// length.
func firstLater(own, t []uint32) int {
	i := 0
	for ; i+lanes <= len(t); i += lanes {
		if ((*pair(own, i)|highBits)-*pair(t, i))&highBits != highBits {
			break
		}
	}
	for ; i < len(t) && t[i] <= own[i]; i++ {
	}
	return i
}

// raise sets own, which is at least as long as t, to the later times of both.
func raise(own, t []uint32) {
	i := 0
	for ; i+lanes <= len(t); i += lanes {
		x, y := *pair(own, i), *pair(t, i)
		kept := ((x | highBits) - y) & highBits >> 31 // 1 in each half in which x is not earlier
		mask := kept<<32 - kept
		*pair(own, i) = x&mask | y&^mask
	}
	for ; i < len(t); i++ {
		own[i] = max(own[i], t[i])
	}
}
