package topology

import (
	"math/bits"

	"kernbench/tl"
)

// hypercubeDims is the largest number of dimensions for which there are names.
const hypercubeDims = 16

// Hypercube joins ranks whose numbers differ in one bit. In a world that is no power of two the
// cube lacks the corners without a rank.
var Hypercube = Register(Topology{
	Name:     "hypercube",
	Summary:  "dim0, dim1, ...: dimension k leads to the rank whose number differs in bit k, where there is one",
	MaxRanks: 1 << hypercubeDims,
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		for k := 0; 1<<k < world; k++ {
			if peer := rank ^ 1<<k; peer < world {
				dst = append(dst, Link{tl.Dim(k), int32(peer)})
			}
		}
		return dst
	},
})

// Fold maps world ranks to an algorithm for powers of two. The first core ranks, a cube of dims
// dimensions, do the work. Each further rank is the guest of rank-core, its neighbour in the next
// dimension.
func Fold(world int) (core, dims int) {
	dims = bits.Len(uint(world)) - 1
	return 1 << dims, dims
}
