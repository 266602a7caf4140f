package algorithm

import "kernbench/tl"

// directAllToAll lets every rank load its blocks from the others. In place, a block may be
// overwritten before it is loaded, so the two ranks of a pair share the exchange of their blocks.
// One moves the first halves of both blocks, the other the second halves. Each loads a tile of both
// blocks before it stores one.
func directAllToAll(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	var ends [2]tl.Ref
	take := func(from, to int) carry {
		ends = [2]tl.Ref{a.InBlock(from, n, to), a.OutBlock(to, a.NElem, n, from)}
		return carry{ends[:1], ends[1:]}
	}
	peer := func(k int) int { return (me + 1 + k) % n }
	if a.Outs != nil {
		direct(c, a, tileToSelf, carries{n, func(i int) carry { return take(peer(i), me) }})
		return
	}
	direct(c, a, tileToOthers, carries{2 * (n - 1), func(i int) carry {
		r, half := peer(i/2), 1
		if me < r {
			half = 0
		}
		w := take(r, me)
		if i%2 == 0 {
			w = take(me, r)
		}
		ends[0], ends[1] = ends[0].Chunk(2, half), ends[1].Chunk(2, half)
		return w
	}})
}

// DirectAllToAll stages nothing.
var DirectAllToAll = Register(Algorithm{
	Name:       "direct_all_to_all",
	Summary:    "each rank loads what others have for it; in place, the two ranks of a pair exchange their blocks, half of them each",
	Collective: "all_to_all",
	Topology:   "none",
	Kernel:     directAllToAll,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window:     directWindow,
	Steps:      "2 barriers, N loads side by side",
	Cost:       "2 ceil(log2 N) alpha + (N-1)/N beta M: (N-1)/N M bytes per rank",
	Source:     "the all-to-all by direct reads of github.com/microsoft/mscclpp",
})
