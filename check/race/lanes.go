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
	const atOnce = 4 * lanes
	own = own[:len(t)]
	i := 0
	for ; i+atOnce <= len(t); i += atOnce {
		x, y := (*[4]uint64)(unsafe.Pointer(&own[i])), (*[4]uint64)(unsafe.Pointer(&t[i]))
		x[0], x[1], x[2], x[3] = maxima(x[0], y[0]), maxima(x[1], y[1]), maxima(x[2], y[2]), maxima(x[3], y[3])
	}
	for ; i < len(t); i++ {
		own[i] = max(own[i], t[i])
	}
}

// maxima returns the later times of two pairs.
func maxima(x, y uint64) uint64 {
	d := (x | highBits) - y // in each half x-y, and the highest bit if x is not earlier
	kept := d & highBits
	return y + d&(kept-kept>>31)
}
