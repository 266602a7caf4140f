// Package collective says what each collective MEANS, once: how many elements a rank
// brings and ends with, which contributions make up each of them, the values that should
// come out, the bytes that must cross, and the bus bandwidth factor. It also holds the
// provenance algebra: runs of elements with the multiset of their contributors.
//
// It imports tl (for ReduceOp), mem, dtype and unit. Start at Collective and Run.
package collective
