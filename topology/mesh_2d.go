package topology

import "kernbench/tl"

// Mesh2D is a grid without wrap links: rank = row*w + column, row 0 in the north. Ranks
// at the border lack the directions that lead out.
var Mesh2D = Register(Topology{
	Name:    "mesh_2d",
	Summary: "a w x h grid, row-major from the north-west; no links around the rim",
	Planar:  true,
	Links: func(dst []Link, rank, _ int, g Grid) []Link {
		x, y := rank%g.W, rank/g.W
		if x+1 < g.W {
			dst = append(dst, Link{tl.East, int32(rank + 1)})
		}
		if x > 0 {
			dst = append(dst, Link{tl.West, int32(rank - 1)})
		}
		if y > 0 {
			dst = append(dst, Link{tl.North, int32(rank - g.W)})
		}
		if y+1 < g.H {
			dst = append(dst, Link{tl.South, int32(rank + g.W)})
		}
		return dst
	},
})
