package algorithm

import "kernbench/tl"

// directBroadcast lets each rank but the root load one chunk of the vector from the root and store
// it to all. So each chunk leaves the root once, and the links between the other ranks distribute
// it at the same time.
func directBroadcast(c *tl.Context, a tl.Args) {
	r := fromRoot(c, a)
	var work []task
	if owner, owners := r.owner(); owner >= 0 {
		first := c.Rank() + 1
		to := places{r.n, func(i int) tl.Ref { return a.Out((first+i)%r.n, a.NElem).Chunk(owners, owner) }}
		if a.Outs == nil { // not to the root, which has all
			to.n--
			at, root := to.at, (r.root-first+r.n)%r.n
			to.at = func(i int) tl.Ref {
				if i >= root {
					i++
				}
				return at(i)
			}
		}
		work = append(work, task{from: singlePlace(a.Shard(r.root).Chunk(owners, owner)), to: to})
	}
	direct(c, a, tileToOthers, taskList(work...))
}

// owner returns this rank's place among the ranks that share the work of a root, or -1. They are
// all but the root, unless the root is the only rank.
func (r rooted) owner() (owner, owners int) {
	if r.n == 1 {
		return 0, 1
	}
	return r.number - 1, r.n - 1
}

// DirectBroadcast uses all links of the root at once.
var DirectBroadcast = Register(Algorithm{
	Name:       "direct_broadcast",
	Summary:    "each rank but the root loads a chunk from the root and stores it to all: scatter and all-gather side by side",
	Collective: "broadcast",
	Topology:   "none",
	Kernel:     directBroadcast,
	KernelArgs: firstIsRoot,
	Window:     directWindow,
	Steps:      "2 barriers, a load and N stores side by side",
	Cost:       "2 ceil(log2 N) alpha + beta M: M bytes of the root, (N-2)/(N-1) M of others",
	Source:     "scatter and all-gather of scatter_allgather_broadcast, by loads and stores",
})
