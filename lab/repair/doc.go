// Package repair searches for changes with which a run ends that has deadlocked or left messages
// behind. It finds the least number of ring slots, and small edits of the kernel. An edit applies
// to one source line, in all iterations and on all ranks. Every repair is carried out before it is
// reported, at this and at two other numbers of ranks. An edit that leaves a race is reported only
// if there is no other.
//
// It may import lab/run, dialect/hccl, tl and fault. Start at Search.
package repair
