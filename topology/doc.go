// Package topology knows the logical neighbour maps: which rank each rank calls its
// east, its parent, and so on; overrides of them; and Connect, which turns what ranks
// call their neighbours into rings with two ends. RingStep and TreeStep are the
// arithmetic that algorithms on rings and trees share.
//
// It imports tl, mem, dtype and unit only. Start at Topology and Wire.
package topology
