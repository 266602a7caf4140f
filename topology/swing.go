package topology

import (
	"fmt"

	"kernbench/tl"
)

// Swing joins each rank of a ring with ranks at growing distance, now on one side, now on the
// other, as SwingPeer counts. Ranks beyond a power of two are guests,
// as in Fold. Its mirror starts on the other side.
var Swing = Register(Topology{
	Name:     "swing",
	Summary:  "partners on a ring at distances 1, 1, 3, 5, 11, ..., on alternating sides: dim0, dim1, ..., and mirror.dim0, ... the other way",
	MaxRanks: 1 << hypercubeDims,
	Links: func(dst []Link, rank, world int, _ Grid) []Link {
		core, dims := Fold(world)
		if rank >= core {
			return append(dst, Link{tl.Dim(dims), int32(rank - core)})
		}
		for k := range dims {
			dst = append(dst, Link{tl.Dim(k), int32(SwingPeer(rank, k, core))})
		}
		if rank+core < world {
			dst = append(dst, Link{tl.Dim(dims), int32(rank + core)})
		}
		for k := range dims {
			dst = append(dst, Link{MirrorDim(k), int32(mod(-SwingPeer(mod(-rank, core), k, core), core))})
		}
		return dst
	},
})

// SwingPeer returns the partner of rank in a step of a ring of 2^dims ranks. Even ranks go on by
// rho = (1-(-2)^(step+1))/3, which is 1, -1, 3, -5, 11, .... Odd ranks go back by it.
func SwingPeer(rank, step, ranks int) int {
	rho := 1 << (step + 1) // of (-2)^(step+1), without its sign
	if step%2 == 0 {
		rho = -rho
	}
	rho = (1 - rho) / 3
	if rank%2 == 1 {
		rho = -rho
	}
	return mod(rank+rho, ranks)
}

// SwingHalf returns which half of its part of a vector a rank keeps in a step. Parts are halved in
// each of the steps 0 to dims-1. Partners keep different halves. Ranks that become partners in a
// later step keep the same half.
//
// Modulo 2^m, three times rho is 1 from step m-1 on. So those steps lead from a rank for which
// 3*rank is u, modulo 2^m. They lead to one for which it is u+1 or, if u is odd, u-1. The bits
// above the lowest do not change. Step m-2 turns the highest of them, bit m-1. The last step turns
// the lowest.
func SwingHalf(rank, step, dims int) int {
	if step == dims-1 {
		return rank & 1
	}
	return 3 * rank >> (step + 1) & 1
}

// MirrorDim returns the direction of dimension k in the mirror of Swing.
func MirrorDim(k int) tl.Dir { return mirrorDims[k] }

var mirrorDims = func() (dirs [hypercubeDims]tl.Dir) {
	for k := range dirs {
		dirs[k] = tl.RegisterDir(fmt.Sprintf("mirror.dim%d", k))
	}
	return dirs
}()
