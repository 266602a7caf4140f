package algorithm

import "kernbench/tl"

// meshCenterAllReduce is meshAllReduce with its root in the middle. Rows are reduced from both ends
// to the column in the middle, and that column from both ends to its middle rank. The result
// returns on the same paths. Vectors go whole, from one rank to the next.
//
// With one rank per cube it is the published algorithm of this machine, which leaves the other PEs
// of a cube idle. It takes 8 hops on a mesh of 4 x 4, and 12 with a root in the corner.
//
// Each direction carries one message of a segment, so one slot is enough.
func meshCenterAllReduce(c *tl.Context, a tl.Args) {
	x, y, w, h := meshPlace(c)
	for mine, out := range segments(&a, c.Rank(), 1) {
		acc := c.Load(mine)
		toCenter(c, a.Op, &acc, x, w, tl.East, tl.West, func() {
			toCenter(c, a.Op, &acc, y, h, tl.South, tl.North, func() {
				acc = c.Finish(a.Op, acc, c.WorldSize())
			})
		})
		c.Store(out, acc)
	}
}

// toCenter adds up what the ranks of a line have at rank n/2 of it. That rank processes the sum,
// and sends the result back to all.
func toCenter(c *tl.Context, op tl.ReduceOp, acc *tl.Tensor, me, n int, ahead, back tl.Dir, atCenter func()) {
	center := n / 2
	fromBack, fromAhead := me > 0 && me <= center, me < n-1 && me >= center
	take := func(d tl.Dir) tl.Tensor { return c.Recv(d, acc.Shape(), acc.DType()) }
	if fromBack {
		*acc = c.Combine(op, *acc, take(back))
	}
	if fromAhead {
		*acc = c.Combine(op, *acc, take(ahead))
	}
	switch {
	case me < center:
		c.Send(ahead, *acc)
		*acc = take(ahead)
	case me > center:
		c.Send(back, *acc)
		*acc = take(back)
	default:
		atCenter()
	}
	if fromBack {
		c.Send(back, *acc)
	}
	if fromAhead {
		c.Send(ahead, *acc)
	}
}

// MeshCenterAllReduce halves the distance to the root.
var MeshCenterAllReduce = Register(Algorithm{
	Name:       "mesh_center_allreduce",
	Summary:    "rows, then the middle column, are reduced to the middle of a mesh, which broadcasts the result back",
	Collective: "all_reduce",
	Topology:   "mesh_2d",
	Kernel:     meshCenterAllReduce,
	Steps:      "2(floor(w/2) + floor(h/2))",
	Cost:       "2(floor(w/2) + floor(h/2)) (alpha + beta M): 2(N-1) M bytes in all",
	Source:     "lrab_hierarchical_allreduce of git.ywkang.dev/ywkang/kernbench2, within a package",
})
