// Package repair searches for changes that let a run end, after a run that deadlocked or left
// messages in rings. It finds the least number of ring slots, and small edits of the kernel. An
// edit applies to one source line, in all iterations and on all ranks. Every repair is tried before
// it is reported, with this and with two other numbers of ranks. An edit that leaves a race is
// reported only if there is no other.
//
// It may import lab/run, dialect/hccl, tl and fault. Start at Search.
package repair
