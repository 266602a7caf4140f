package algorithm

import "kernbench/tl"

// directAllToAll lets every rank load its blocks from the others. In place, a block may be
// overwritten before it is loaded, so the two ranks of a pair share the exchange of their blocks.
// One moves the first halves of both blocks, the other the second halves. Each loads a tile of both
// blocks before it stores one.
func directAllToAll(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	var work []carry
	take := func(from, to int, part func(block tl.Ref) tl.Ref) {
		work = append(work, carry{
			from: []tl.Ref{part(a.InBlock(from, n, to))},
			to:   []tl.Ref{part(a.OutBlock(to, a.NElem, n, from))},
		})
	}
	for _, r := range fromNext(me, n) {
		if a.Outs != nil {
			take(r, me, func(block tl.Ref) tl.Ref { return block })
			continue
		}
		half := func(block tl.Ref) tl.Ref {
			if me < r {
				return block.Chunk(2, 0)
			}
			return block.Chunk(2, 1)
		}
		if r != me {
			take(me, r, half)
			take(r, me, half)
		}
	}
	most := tileToSelf
	if a.Outs == nil {
		most = tileToOthers
	}
	direct(c, a, most, work...)
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
