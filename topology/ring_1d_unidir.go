package topology

import "kernbench/tl"

// Ring1DUnidir is a ring of one direction: a rank sends to E and receives from W.
var Ring1DUnidir = Register(Topology{
	Name:    "ring_1d_unidir",
	Summary: "a one-way ring: send to E (rank+1), receive from W",
	Wraps:   true,
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		return append(dst, Link{tl.East, int32((rank + 1) % world)})
	},
})
