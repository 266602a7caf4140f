// Package collective defines what each collective means. It has the number of elements that a rank
// brings and ends with, the contributions that make up each element, and the expected values. It
// also has the bytes that must cross, and the bus bandwidth factor. It also holds the algebra of
// provenance: runs of elements with the multiset of their contributors.
//
// It may import tl (for ReduceOp), mem, dtype, unit and internal/near. Start at Collective and
// Run.
package collective
