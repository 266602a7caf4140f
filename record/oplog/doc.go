// Package oplog is the second pass of a run. While time passes, an executor appends to a
// Log what each operation does to values and memory, at the moment at which it takes
// effect; the log is replayed on bytes and provenance beside it, segment by segment, so
// that a run with data needs memory for the machine and not for its history.
//
// Tensors are values that never change once made and that several holders may share: a
// message in flight is a reference, not a copy. The executor counts references; the
// replay only hears of the last one going.
//
// Ranks that all do the same, whenever it is, need no log: they do it in Lockstep.
//
// It imports tl, collective, fault, mem, dtype and unit. Start at Log.
package oplog
