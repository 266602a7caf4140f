// Package numerics judges the effect of rounding on a reduction. It computes the error of each
// result against the exact sum, in units in the last place. It also computes the bound of that
// error for the tree in which the element was summed (oplog.Tree). It also makes inputs that show
// rounding errors.
//
// It may import record/oplog, collective, tl, dtype and fault. Start at Judge.
package numerics
