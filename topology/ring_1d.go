package topology

import "kernbench/tl"

// Ring1D is a ring in both directions: E is the next rank, W the previous one. With two
// ranks both lead to the other rank, over two rings. One rank alone is its own neighbour.
var Ring1D = Register(Topology{
	Name:    "ring_1d",
	Summary: "a ring: E is rank+1, W is rank-1, modulo the world size",
	Wraps:   true,
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		return append(dst,
			Link{tl.East, int32((rank + 1) % world)},
			Link{tl.West, int32((rank + world - 1) % world)})
	},
})
