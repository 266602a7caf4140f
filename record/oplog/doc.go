// Package oplog is the second pass of a run. While time passes, an executor appends to a Log
// what each operation does to values and memory, at the moment at which it takes effect. The
// log is replayed on bytes and provenance in parallel, segment by segment, so memory depends
// on the machine and not on the length of the run. Equal ranks need no log: see Lockstep.
//
// It may import tl, collective, fault, mem, dtype and unit. Start at Log.
package oplog
