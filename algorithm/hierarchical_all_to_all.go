package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// hierarchicalAllToAll is aligned to rails, in two steps. First every PE sends its blocks for place
// p of all cubes to the PE at place p of its own cube. Then each PE sends the blocks of its cube
// for each other cube in one message, to the PE at its own place there. So L blocks cross together,
// and messages between cubes keep to one place. Cubes are those of hierarchicalAllReduce: a number
// of the launch can set the ranks of a cube.
//
// The window has two halves. The first holds blocks from the rank's cube, by cube and then place.
// The second holds blocks from other cubes, in the order of ranks. Row 0 of the signals has a word
// for each block of the first half, row 1 a word for each cube of the second.
func hierarchicalAllToAll(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	places := innermost(levelWidths(c, a))
	cubes, cube, place := n/places, me/places, me%places
	data, signals := scratch(c, a, 2*inputElems(a, n))
	fromCube, fromAll := data.Chunk(2, 0), data.Chunk(2, 1)
	given, crossed, use := row(c, signals, 0), row(c, signals, 1), a.Use(0)

	for i := range cubes {
		to := (cube + i + 1) % cubes // the rank's cube last: its blocks stay there
		for k := range places {
			at := (place + k) % places
			block, slot := a.InBlock(me, n, to*places+at), fromCube.Chunk(n, to*places+place)
			if to == cube {
				slot = fromAll.Chunk(n, me)
			}
			if at == place {
				move(c, c.Local(slot), block)
			} else {
				c.PutSignal(slot, cube*places+at, block, given.At(to*places+place), tl.SignalAdd, 1)
			}
		}
	}
	c.PipeBarrier() // local copies are complete before they are sent
	for i := range cubes {
		to := (cube + i + 1) % cubes
		for k := range places {
			if k != place {
				awaitWord(c, given.At(to*places+k), use)
			}
		}
		if to != cube {
			c.PutSignal(fromAll.Chunk(cubes, cube), to*places+place, c.Local(fromCube.Chunk(cubes, to)), crossed.At(cube), tl.SignalAdd, 1)
		}
	}
	for from := range cubes {
		if from != cube {
			awaitWord(c, crossed.At(from), use)
		}
	}
	takeBlocks(c, a, n, fromAll)
}

// innermost returns the width of the first level that has more than one member.
func innermost(widths []int) int {
	for _, w := range widths {
		if w > 1 {
			return w
		}
	}
	return 1
}

// HierarchicalAllToAll sends few and long messages from cube to cube.
var HierarchicalAllToAll = Register(Algorithm{
	Name:       "hierarchical_all_to_all",
	Summary:    "each rank gives its blocks for place p of all cubes to the PE at place p of its cube, which sends those of its cube for each other cube in one message",
	Collective: "all_to_all",
	Topology:   "none",
	Kernel:     hierarchicalAllToAll,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		if nElem > mem.MaxOffset/2 {
			return scratchLayout(world, nElem, t, 2, meshRow(world)) // which returns the error
		}
		return scratchLayout(world, 2*nElem, t, 2, meshRow(world))
	},
	Steps:  "(L-1) N/L puts in cubes of L, then N/L-1 across",
	Cost:   "(L-1) (alpha N/L + beta M/L) + (N/L-1) (alpha + beta M L/N): (L-1)/L M bytes in the cube and (N-L)/N M across per rank",
	Source: "PXN, rail-aligned: NVIDIA, Doubling all2all performance with NVIDIA Collective Communication Library 2.12, 2022; 2D all-to-all: Kumar, Sabharwal, Garg, Heidelberger, Optimization of all-to-all communication on the Blue Gene/L supercomputer, ICPP 2008",
})
