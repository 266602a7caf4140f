// Package numerics judges what rounding did to a reduction. It computes how far each result is
// from the exact sum, in units in the last place, and how far it may be for the tree in which
// that element was summed (oplog.Tree). It also makes inputs that show rounding errors.
//
// It may import record/oplog, collective, tl, dtype and fault. Start at Judge.
package numerics
