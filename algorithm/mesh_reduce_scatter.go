package algorithm

import "kernbench/tl"

// meshReduceScatter is meshAllGather in reverse. The part of each row is summed along the columns,
// from both ends at once, and then single chunks along the rows. The results of the columns are
// kept in staging memory.
func meshReduceScatter(c *tl.Context, a tl.Args) {
	g, n, me := meshOf(c, a), c.WorldSize(), c.Rank()
	v, sums := bringBlocks(c, a)
	if g.h > 1 {
		reduceLine(g.column(), func(y int) tl.Ref { return blockRange(a, v, n, y*g.w, g.w) }, func(i int, sum tl.Tensor) {
			c.Store(strip(blockRange(a, sums, n, g.y*g.w, g.w), i), sum)
		})
		v = sums
	}
	out := a.Out(me, packed(a, n, me).N)
	reduceLine(g.row(), g.inRow(func(rank int) tl.Ref { return blockRange(a, v, n, rank, 1) }), func(i int, sum tl.Tensor) {
		c.Store(strip(out, i), c.Finish(a.Op, sum, n))
	})
}

// reduceLine adds up what all ranks have in each part, at the rank whose part it is, which takes
// the sum tile by tile.
func reduceLine(l *line, part func(k int) tl.Ref, take func(i int, sum tl.Tensor)) {
	for i := range longestInTiles(part, l.n) {
		l.tile(part, i).reduce()
		take(i, l.part)
		l.c.Free(l.part)
	}
}

// MeshReduceScatter has a step for each rank of a row and a column.
var MeshReduceScatter = Register(Algorithm{
	Name:       "mesh_reduce_scatter",
	Summary:    "reduce-scatter of the rows' contiguous parts along the columns of a mesh, then of single chunks along the rows, from both ends at once",
	Collective: "reduce_scatter",
	Topology:   "mesh_2d",
	Kernel:     meshReduceScatter,
	Window:     vectorWindow,
	Steps:      "(h-1) + (w-1)",
	Cost:       "(h-1) (alpha + (beta + gamma) M/h) + (w-1) (alpha + (beta + gamma) M/N) where both directions go side by side: (N-1) M bytes in all",
	Source:     "distributed combine on a linear array, by dimension: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience, Concurrency Computat.: Pract. Exper. 19(13), 2007",
})
