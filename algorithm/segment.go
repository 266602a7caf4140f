package algorithm

import (
	"iter"

	"kernbench/tl"
)

// segmentBytes is the longest vector that an all-reduce on rings takes in one go, or of some
// the longest chunk: a few of that size have room in a PE's scratch memory.
const segmentBytes = 128 << 10

// segments cuts a vector into parts that are reduced one after the other, each of at most so
// many segments' bytes.
func segments(vector tl.Ref, most int) iter.Seq[tl.Ref] {
	per := most * segmentBytes / vector.DType.Size()
	return func(yield func(tl.Ref) bool) {
		for lo := 0; lo < vector.Len(); lo += per {
			if !yield(vector.Slice(lo, min(per, vector.Len()-lo))) {
				return
			}
		}
	}
}
