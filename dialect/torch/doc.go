// Package torch offers the names of torch.distributed to host programs: a process group,
// ranks, AllReduce, Barrier. With rank_level: pe (ccl.yaml) there is one host worker, and the
// shards of its tensors are the contributions of the PEs. With rank_level: sip each SIP has a
// worker, a coroutine; AllReduce starts when the last of them has called it.
//
// It may import device and packages below it. Start at New and Dist.InitProcessGroup.
package torch
