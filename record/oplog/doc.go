// Package oplog is the second pass of a run, the data pass. In the first pass an executor appends
// each operation on values and memory to a Log, at the time of its effect. The log is applied to
// bytes and provenance in parallel, segment by segment. So memory use depends on the machine and
// not on the length of the run. Equal ranks need no log: see Lockstep.
//
// It may import tl, collective, fault, mem, dtype and unit. Start at Log.
package oplog
