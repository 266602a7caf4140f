// Package torch is the dialect of torch.distributed for host programs: a process group,
// ranks, AllReduce, Barrier. What a rank is, ccl.yaml says: with rank_level: pe there is
// one host worker, and the shards of its tensors are the contributions of the PEs; with
// rank_level: sip there is one worker per SIP, a coroutine, and AllReduce starts when the
// last of them has called it.
//
// It imports device and what stands below it. Start at New and Dist.InitProcessGroup.
package torch
