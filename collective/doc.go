// Package collective defines each collective: the number of elements that a rank brings and ends
// with, the contributors of each element and the expected values. The bytes that must cross and the
// bus bandwidth factor are here, too. It also has the algebra of provenance: runs of elements with
// the multiset of their contributors.
//
// It may import tl (for ReduceOp), mem, dtype, unit and internal/near. Start at Collective and
// Run.
package collective
