package algorithm

import "kernbench/tl"

// halvingDoublingAllReduce is a reduce-scatter by recursive halving and an all-gather by
// recursive doubling on a hypercube. In the first half two neighbours in dimension k, which
// hold sums of the same part of the vector, each give one half of it away and go on with the
// other; in the second half they put their parts together again, in the reverse order.
func halvingDoublingAllReduce(c *tl.Context, a tl.Args) {
	folded(c, a, func(sum tl.Tensor, dims int) {
		halveAndDouble(c, a, sum, dims, func(k int) int { return c.Rank() >> k & 1 })
	})
}

// halveAndDouble does the work on a power of two of ranks. Half says which half of its part a
// rank keeps in dimension k: its neighbour there, which came by the same part, the other.
//
// Each direction carries two messages, and the first one's slot is held until the second is
// taken: n_slots must be at least 2, unless parts are longer than a slot.
func halveAndDouble(c *tl.Context, a tl.Args, sum tl.Tensor, dims int, half func(k int) int) {
	parts := make([]tl.Ref, dims+1) // parts[k] is what this rank holds before dimension k
	parts[0] = a.Shard(c.Rank())
	for k := range dims {
		parts[k+1] = parts[k].Chunk(2, half(k))
		keep, give := halves(sum, half(k))
		c.Send(tl.Dim(k), give)
		sum = c.Combine(a.Op, keep, c.Recv(tl.Dim(k), keep.Shape(), keep.DType()))
	}
	sum = c.Finish(a.Op, sum, c.WorldSize())
	c.Store(parts[dims], sum)
	for k := dims - 1; k >= 0; k-- {
		c.Send(tl.Dim(k), sum)
		other := parts[k].Chunk(2, 1-half(k))
		c.Store(other, c.Recv(tl.Dim(k), other.Shape, other.DType))
		if k > 0 {
			sum = c.Load(parts[k]) // two tensors come together in memory only
		}
	}
}

// halves parts a vector as Ref.Chunk does: half i of it, and the other.
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
	Steps:      "2 floor(log2 N), and 2 more unless N is a power of two",
	Cost:       "2 log2(N) alpha + 2(N-1)/N beta M: 2(N-1) M bytes in all for any N",
	Source:     "Rabenseifner, Optimization of collective reduction operations, ICCS 2004",
})
