package algorithm

import (
	"slices"

	"kernbench/tl"
)

// halvingDoublingAllReduce is a reduce-scatter by recursive halving and an all-gather by recursive
// doubling on a hypercube. In the first phase two neighbours in dimension k hold sums of the same
// part of the vector. Each sends one half of it and continues with the other. In the second phase
// they exchange their parts again, in the reverse order.
func halvingDoublingAllReduce(c *tl.Context, a tl.Args) {
	folded(c, a, func(out tl.Ref, sum tl.Tensor, dims int) {
		halveAndDouble(c, a.Op, dims, &halving{
			dir: tl.Dim, half: func(k int) int { return cubeHalf(c.Rank(), k, dims) },
			parts: []tl.Ref{out}, sum: sum,
		})
	})
}

// cubeHalf is 0 in one half of a hypercube along a dimension, and 1 in the other.
func cubeHalf(rank, k, _ int) int { return rank >> k & 1 }

// halving is a vector that a power of two of ranks reduce and gather by halving and doubling, along
// dimensions of its own.
type halving struct {
	dir   func(k int) tl.Dir
	half  func(k int) int // half of its part that this rank keeps in dimension k; its neighbour keeps the other
	parts []tl.Ref        // parts[k] is the part of this rank before dimension k
	sum   tl.Tensor       // the part of the sum that it holds as a tensor
}

// halveAndDouble processes several vectors in parallel.
//
// Each direction carries two messages, and the first one's slot is held until the second is taken.
// So n_slots must be at least 2, unless parts are longer than a slot.
func halveAndDouble(c *tl.Context, op tl.ReduceOp, dims int, vs ...*halving) {
	for _, v := range vs {
		v.parts = slices.Grow(v.parts, dims)
	}
	for k := range dims {
		for _, v := range vs {
			v.parts = append(v.parts, v.parts[k].Chunk(2, v.half(k)))
			var give tl.Tensor
			v.sum, give = halves(v.sum, v.half(k))
			c.Send(v.dir(k), give)
		}
		for _, v := range vs {
			v.sum = c.Combine(op, v.sum, c.Recv(v.dir(k), v.sum.Shape(), v.sum.DType()))
		}
	}
	for _, v := range vs {
		v.sum = c.Finish(op, v.sum, c.WorldSize())
		c.Store(v.parts[dims], v.sum)
	}
	for k := dims - 1; k >= 0; k-- {
		for _, v := range vs {
			c.Send(v.dir(k), v.sum)
		}
		for _, v := range vs {
			other := v.parts[k].Chunk(2, 1-v.half(k))
			c.Store(other, c.Recv(v.dir(k), other.Shape, other.DType))
			if k > 0 {
				v.sum = c.Load(v.parts[k]) // two tensors can be joined in memory only
			}
		}
	}
}

// halves divides a vector as Ref.Chunk does: half i of it, and the other.
func halves(t tl.Tensor, i int) (keep, give tl.Tensor) {
	low := tl.CDiv(t.Len(), 2)
	lower, upper := t.Slice(0, low), t.Slice(low, t.Len()-low)
	if i == 0 {
		return lower, upper
	}
	return upper, lower
}

// HalvingDoublingAllReduce moves the fewest bytes in a logarithmic number of steps.
var HalvingDoublingAllReduce = Register(Algorithm{
	Name:       "halving_doubling_allreduce",
	Summary:    "reduce-scatter by recursive halving, then all-gather by recursive doubling, on a hypercube: the fewest bytes in few steps",
	Collective: "all_reduce",
	Topology:   "hypercube",
	Kernel:     halvingDoublingAllReduce,
	MinSlots:   2,
	Steps:      "2 floor(log2 N), and 2 more unless N is a power of two",
	Cost:       "2 log2(N) alpha + 2(N-1)/N beta M: 2(N-1) M bytes in all for any N",
	Source:     "Rabenseifner, Optimization of collective reduction operations, ICCS 2004",
})
