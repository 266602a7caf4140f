package algorithm

import "kernbench/tl"

// meshAllGather is torusAllGather without wrap links. In a row, and then in a column, every rank
// sends its data in both directions, and forwards arrivals from either side to the other.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func meshAllGather(c *tl.Context, a tl.Args) {
	g, n := meshOf(c, a), c.WorldSize()
	out := a.Out(c.Rank(), n*a.NElem)
	keep(c, out.Chunk(n, c.Rank()), a.Shard(c.Rank()))
	gatherLine(g.row(), g.inRow(blocksOf(out, n)))
	gatherLine(g.column(), func(y int) tl.Ref { return out.Chunk(g.h, y) })
}

// mesh is a rank's place in a mesh of w by h.
type mesh struct {
	c          *tl.Context
	op         tl.ReduceOp
	x, y, w, h int
}

func meshOf(c *tl.Context, a tl.Args) mesh {
	x, y, w, h := meshPlace(c)
	return mesh{c, a.Op, x, y, w, h}
}

// row returns the line of the rank's row, in direction east; column that of the rank's column,
// south.
func (g mesh) row() *line {
	return &line{c: g.c, op: g.op, ahead: tl.East, back: tl.West, me: g.x, n: g.w}
}

func (g mesh) column() *line {
	return &line{c: g.c, op: g.op, ahead: tl.South, back: tl.North, me: g.y, n: g.h}
}

// inRow returns the blocks that belong to the ranks of the rank's row.
func (g mesh) inRow(of func(rank int) tl.Ref) func(x int) tl.Ref {
	return func(x int) tl.Ref { return of(g.y*g.w + x) }
}

// gatherLine lets every rank, which has its own part in memory, get those of all others, tile by
// tile.
func gatherLine(l *line, part func(k int) tl.Ref) {
	for i := range longestInTiles(part, l.n) {
		l.tile(part, i)
		l.part = l.own(l.me)
		l.gather()
	}
}

// longestInTiles returns the number of tiles of the longest of n parts: all ranks take as many.
func longestInTiles(part func(k int) tl.Ref, n int) int {
	most := 1
	for k := range n {
		most = max(most, strips(part(k), 1))
	}
	return most
}

// MeshAllGather has a step for each rank of a row and a column.
var MeshAllGather = Register(Algorithm{
	Name:       "mesh_allgather",
	Summary:    "all-gather along the rows of a mesh, then of what the rows have along the columns, both ways at once",
	Collective: "all_gather",
	Topology:   "mesh_2d",
	Kernel:     meshAllGather,
	MinSlots:   2,
	Steps:      "(w-1) + (h-1)",
	Cost:       "(w-1) (alpha + beta M) + (h-1) (alpha + beta w M) where both directions go side by side: (N-1) N M bytes in all",
	Source:     "collect on a linear array, by dimension: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience, Concurrency Computat.: Pract. Exper. 19(13), 2007",
})
