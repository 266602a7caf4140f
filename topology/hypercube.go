package topology

import (
	"math/bits"

	"kernbench/tl"
)

// hypercubeDims is as many dimensions as there are names for.
const hypercubeDims = 16

// Hypercube joins ranks whose numbers differ in one bit. In a world that is no power of two
// those corners of the cube are missing that have no rank.
var Hypercube = Register(Topology{
	Name:    "hypercube",
	Summary: "dim0, dim1, ...: dimension k leads to the rank whose number differs in bit k, where there is one",
	Most:    1 << hypercubeDims,
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		for k := 0; 1<<k < world; k++ {
			if peer := rank ^ 1<<k; peer < world {
				dst = append(dst, Link{tl.Dim(k), int32(peer)})
			}
		}
		return dst
	},
})

// Fold maps world ranks to an algorithm for powers of two: the first core of them, a cube of so
// many dimensions, do the work. Each rank from core on is the guest of rank-core, which is its
// neighbour in the next dimension.
func Fold(world int) (core, dims int) {
	dims = bits.Len(uint(world)) - 1
	return 1 << dims, dims
}
