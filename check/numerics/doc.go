// Package numerics judges what rounding did to a reduction: how far each result is from the
// exact sum, in units in the last place, and how far it may be, by the tree in which that very
// element was summed up (oplog.Tree). It also makes contributions on which rounding shows; those
// of package bench are such that it hardly does.
//
// It imports oplog, collective, tl, dtype and fault. Start at Judge.
package numerics
