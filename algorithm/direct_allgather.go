package algorithm

import "kernbench/tl"

// directAllGather lets every rank load its vector once and store it to all. So each memory is read
// once, in place of N-1 times.
func directAllGather(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	direct(c, a, tileToOthers, taskList(task{
		from: singlePlace(a.Shard(me)),
		to:   places{n, func(i int) tl.Ref { return a.OutBlock((me+1+i)%n, n*a.NElem, n, me) }},
	}))
}

// DirectAllGather pushes.
var DirectAllGather = Register(Algorithm{
	Name:       "direct_allgather",
	Summary:    "each rank loads its vector once and stores it to all",
	Collective: "all_gather",
	Topology:   "none",
	Kernel:     directAllGather,
	Window:     directWindow,
	Steps:      "2 barriers, N stores side by side",
	Cost:       "2 ceil(log2 N) alpha + (N-1) beta M: (N-1) M bytes per rank",
	Source:     "the all-gather by direct writes of github.com/microsoft/mscclpp",
})
