package topology

import "kernbench/tl"

// Ring1DUnidir is a ring that is sent along in one direction only: E sends, W receives.
var Ring1DUnidir = Register(Topology{
	Name:    "ring_1d_unidir",
	Summary: "a one-way ring: send to E (rank+1), receive from W",
	Wraps:   true,
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		return append(dst, Link{tl.East, int32((rank + 1) % world)})
	},
})
