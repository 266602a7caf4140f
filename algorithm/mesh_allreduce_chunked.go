package algorithm

import "kernbench/tl"

// meshAllReduceChunked is a reduce-scatter along the rows of a mesh, an all-reduce of the parts
// along the columns, and an all-gather along the rows. A row does not wrap. A chunk comes to its
// rank from both ends at once, which takes as many steps as a ring, and as many bytes.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func meshAllReduceChunked(c *tl.Context, a tl.Args) {
	g := meshOf(c, a)
	row, column := g.row(), g.column()
	for mine, out := range segments(&a, c.Rank(), g.w) {
		row.ofMemory(mine, out).reduce()
		column.after(row).reduce()
		column.part = c.Finish(a.Op, column.part, c.WorldSize())
		c.Store(column.mine(), column.part)
		column.gather()
		c.Free(row.part)
		if g.w > 1 {
			row.part = c.Load(row.mine())
			row.gather()
		}
	}
}

// meshPlace returns a rank's column and row, and their numbers. A neighbour in the south or in the
// north is a whole row away; without one there is one row.
func meshPlace(c *tl.Context) (x, y, w, h int) {
	n := c.WorldSize()
	w = n
	if south, ok := c.Neighbor(tl.South); ok {
		w = south - c.Rank()
	} else if north, ok := c.Neighbor(tl.North); ok {
		w = c.Rank() - north
	}
	return c.Rank() % w, c.Rank() / w, w, n / w
}

// MeshAllReduceChunked moves the fewest bytes on a mesh.
var MeshAllReduceChunked = Register(Algorithm{
	Name:       "mesh_allreduce_chunked",
	Summary:    "reduce-scatter along rows, all-reduce along columns, all-gather along rows of a mesh, from both ends at once",
	Collective: "all_reduce",
	Topology:   "mesh_2d",
	Kernel:     meshAllReduceChunked,
	MinSlots:   2,
	Steps:      "2(w-1) + 2(h-1)",
	Cost:       "2(w-1) (alpha + beta M/w) + 2(h-1) (alpha + beta M/N) where both directions go side by side: 2(N-1) M bytes in all",
	Source:     "bucket algorithms on a linear array: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience, Concurrency and Computation 19(13), 2007",
})
