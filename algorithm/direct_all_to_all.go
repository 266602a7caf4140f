package algorithm

import "kernbench/tl"

// directAllToAll is a kernel in which every rank loads its blocks from the other ranks' memory. In
// place, a rank could overwrite a block that the other rank of a pair has not loaded yet. So the
// two ranks exchange their blocks together: one swaps the first halves, the other the second
// halves. Each loads a tile of both blocks before it stores one of the two.
func directAllToAll(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	var ends [2]tl.Ref // source and destination of the latest transfer
	between := task{places{1, func(int) tl.Ref { return ends[0] }}, places{1, func(int) tl.Ref { return ends[1] }}}
	transfer := func(from, to int) task {
		ends = [2]tl.Ref{a.InBlock(from, n, to), a.OutBlock(to, a.NElem, n, from)}
		return between
	}
	peer := func(k int) int { return (me + 1 + k) % n }
	if a.Outs != nil {
		direct(c, a, tileToSelf, tasks{n, func(i int) task { return transfer(peer(i), me) }})
		return
	}
	direct(c, a, tileToOthers, tasks{2 * (n - 1), func(i int) task {
		r, half := peer(i/2), 1
		if me < r {
			half = 0
		}
		w := transfer(r, me)
		if i%2 == 0 {
			w = transfer(me, r)
		}
		ends[0], ends[1] = ends[0].Chunk(2, half), ends[1].Chunk(2, half)
		return w
	}})
}

// DirectAllToAll needs no staging buffer: ranks load blocks directly from each other's memory.
var DirectAllToAll = Register(Algorithm{
	Name:       "direct_all_to_all",
	Summary:    "each rank loads its blocks from the other ranks; in place, the two ranks of a pair swap their blocks, each rank one half",
	Collective: "all_to_all",
	Topology:   "none",
	Kernel:     directAllToAll,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window:     directWindow,
	Steps:      "2 barriers, N loads in parallel",
	Cost:       "2 ceil(log2 N) alpha + (N-1)/N beta M: (N-1)/N M bytes per rank",
	Source:     "the all-to-all by direct reads of github.com/microsoft/mscclpp",
})
