// Package collective defines what each collective means: how many elements a rank brings and
// ends with, which contributions make up each element, the expected values, the bytes that
// must cross, and the bus bandwidth factor. It also holds the algebra of provenance: runs of
// elements with the multiset of their contributors.
//
// It may import tl (for ReduceOp), mem, dtype, unit and internal/near. Start at Collective and
// Run.
package collective
