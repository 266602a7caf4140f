package topology

import (
	"fmt"
	"math/bits"

	"kernbench/tl"
)

// MaxHops is the largest number of hops in each direction for which there are names.
const MaxHops = 20

// Circulant is a ring with hops of 1, 2, 4, ... ranks in both directions. It contains the binomial
// tree of every root, and the partners of Bruck's algorithms. The hop of +2^k ranks is called
// hopK.E, that of -2^k ranks hopK.W.
var Circulant = Register(Topology{
	Name:     "circulant",
	Summary:  "a ring with hops: hopK.E is rank+2^K, hopK.W is rank-2^K, modulo the world size, for all 2^K below it",
	Wraps:    true,
	MaxRanks: 1 << MaxHops,
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		for k := range Hops(world) {
			step := 1 << k
			dst = append(dst,
				Link{HopEast(k), int32((rank + step) % world)},
				Link{HopWest(k), int32((rank + world - step) % world)})
		}
		return dst
	},
})

// Hops returns the number of hops that lead from a rank to all others: log2 of the world, rounded
// up.
func Hops(world int) int { return bits.Len(uint(max(world, 1) - 1)) }

// HopEast returns the direction that leads 2^k ranks on, HopWest the one that leads 2^k back.
func HopEast(k int) tl.Dir { return hops[k].east }

// HopWest returns the opposite of HopEast.
func HopWest(k int) tl.Dir { return hops[k].west }

var hops = func() (dirs [MaxHops]struct{ east, west tl.Dir }) {
	for k := range dirs {
		dirs[k].east = tl.RegisterDir(fmt.Sprintf("hop%d.E", k))
		dirs[k].west = tl.RegisterDir(fmt.Sprintf("hop%d.W", k))
	}
	return dirs
}()

// Hop returns the direction that leads from one rank to another, and the direction from which the
// other receives. The two ranks are a power of two apart, in either direction.
func Hop(from, to, world int) (out, in tl.Dir) {
	if d := mod(to-from, world); d&(d-1) == 0 {
		k := bits.TrailingZeros(uint(d))
		return HopEast(k), HopWest(k)
	}
	k := bits.TrailingZeros(uint(mod(from-to, world)))
	return HopWest(k), HopEast(k)
}

// BinomialStep returns a rank's place in the binomial tree of `world` ranks in which rank 0 is the
// root. The parent is Hop(up) back. The children are Hop(k) on, for k from 0 to children-1. At the
// root up is -1. The ranks below child rank+2^k and itself are [rank+2^k, rank+2^(k+1)), as far as
// they exist.
func BinomialStep(rank, world int) (up, children int) {
	up, children = -1, Hops(world)
	if rank > 0 {
		up = bits.TrailingZeros(uint(rank))
		children = up
	}
	for children > 0 && rank+1<<(children-1) >= world {
		children--
	}
	return up, children
}
