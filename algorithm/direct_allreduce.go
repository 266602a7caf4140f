package algorithm

import "kernbench/tl"

// directAllReduce gives each rank one chunk of the vector: it loads that chunk of all ranks,
// combines it, and stores it to all. So reduce-scatter and all-gather go side by side, and each
// memory is read once and written once.
func directAllReduce(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	direct(c, a, tileToOthers, taskList(task{
		from: places{n, func(r int) tl.Ref { return a.Shard(r).Chunk(n, me) }},
		to:   places{n, func(i int) tl.Ref { return a.Out((me+1+i)%n, a.NElem).Chunk(n, me) }},
	}))
}

// DirectAllReduce uses the links to all ranks at once.
var DirectAllReduce = Register(Algorithm{
	Name:       "direct_allreduce",
	Summary:    "each rank loads its chunk of all vectors, combines it, and stores it to all: for networks that join each to each",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     directAllReduce,
	Window:     directWindow,
	Steps:      "2 barriers, N loads and N stores side by side",
	Cost:       "2 ceil(log2 N) alpha + 2(N-1)/N beta M, or 2 M at the rate of each memory",
	Source:     "two-shot all-reduce on buffers that are registered with all: NCCL 2.19 (user buffer registration); github.com/microsoft/mscclpp",
})
