package algorithm

import "kernbench/tl"

// directReduce gives each rank but the root one chunk of the vector to load from all, to combine,
// and to store to the root. The root gets no more than the result.
func directReduce(c *tl.Context, a tl.Args) {
	r := fromRoot(c, a)
	var work []task
	if owner, owners := r.owner(); owner >= 0 {
		work = append(work, task{
			from: places{r.n, func(rank int) tl.Ref { return a.Shard(rank).Chunk(owners, owner) }},
			to:   singlePlace(a.Out(r.root, a.NElem).Chunk(owners, owner)),
		})
	}
	direct(c, a, tileToOthers, taskList(work...))
}

// DirectReduce uses all links of the root at once.
var DirectReduce = Register(Algorithm{
	Name:       "direct_reduce",
	Summary:    "each rank but the root loads a chunk of all vectors, combines it, and stores it to the root: reduce-scatter and gather side by side",
	Collective: "reduce",
	Topology:   "none",
	Kernel:     directReduce,
	KernelArgs: firstIsRoot,
	Window:     directWindow,
	Steps:      "2 barriers, N loads and a store side by side",
	Cost:       "2 ceil(log2 N) alpha + beta M: M bytes per rank",
	Source:     "reduce-scatter and gather: Rabenseifner, Optimization of collective reduction operations, ICCS 2004; by loads and stores",
})
