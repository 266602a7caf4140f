package topology

import "kernbench/tl"

// Torus2D is a grid whose rows and columns are rings. A side of one makes each rank its
// own neighbour along it, a side of two makes both directions reach the same one.
var Torus2D = Register(Topology{
	Name:    "torus_2d",
	Summary: "a w x h grid, row-major from the north-west, whose rows and columns are rings",
	Planar:  true,
	Wraps:   true,
	Links: func(dst []Link, rank, _ int, g Grid) []Link {
		x, y := rank%g.W, rank/g.W
		at := func(x, y int) int32 { return int32((y+g.H)%g.H*g.W + (x+g.W)%g.W) }
		return append(dst,
			Link{tl.East, at(x+1, y)},
			Link{tl.West, at(x-1, y)},
			Link{tl.North, at(x, y-1)},
			Link{tl.South, at(x, y+1)})
	},
})
