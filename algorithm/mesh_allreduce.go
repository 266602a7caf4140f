package algorithm

import "kernbench/tl"

// meshAllReduce reduces every row of a w x h mesh into its westmost rank, and the west column into
// its northmost. It sends the result back on the same paths. A rank without a neighbour in a
// direction is at the rim, so the kernel need not know w and h.
func meshAllReduce(c *tl.Context, a tl.Args) {
	has := func(d tl.Dir) bool { _, ok := c.Neighbor(d); return ok }
	for mine, out := range segments(&a, c.Rank(), 1) {
		c.Store(out, toCornerAndBack(c, a.Op, c.Load(mine), has))
	}
}

// toCornerAndBack makes the result of what a rank brings.
func toCornerAndBack(c *tl.Context, op tl.ReduceOp, acc tl.Tensor, has func(d tl.Dir) bool) tl.Tensor {
	recv := func(d tl.Dir) tl.Tensor { return c.Recv(d, acc.Shape(), acc.DType()) }

	// Rows, from east to west.
	if has(tl.East) {
		acc = c.Combine(op, acc, recv(tl.East))
	}
	if has(tl.West) {
		c.Send(tl.West, acc)
		acc = recv(tl.West) // the result
	} else {
		// The west column, from south to north.
		if has(tl.South) {
			acc = c.Combine(op, acc, recv(tl.South))
		}
		if has(tl.North) {
			c.Send(tl.North, acc)
			acc = recv(tl.North)
		} else {
			acc = c.Finish(op, acc, c.WorldSize())
		}
		if has(tl.South) {
			c.Send(tl.South, acc)
		}
	}
	if has(tl.East) {
		c.Send(tl.East, acc)
	}
	return acc
}

// MeshAllReduce reduces along rows and the west column, and broadcasts back.
var MeshAllReduce = Register(Algorithm{
	Name:       "mesh_allreduce",
	Summary:    "rows, then the west column, are reduced to the north-west corner, which broadcasts the result back",
	Collective: "all_reduce",
	Topology:   "mesh_2d",
	Kernel:     meshAllReduce,
	Steps:      "2(w+h-2)",
	Cost:       "2(w+h-2) (alpha + beta M): 2(N-1) M bytes in all",
	Source:     "reduce and broadcast by dimension on a mesh: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 2nd ed., sec. 4.1.2",
})
