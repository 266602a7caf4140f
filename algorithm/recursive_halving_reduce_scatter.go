package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// recursiveHalvingReduceScatter sends to a partner at distance N/2, then N/4, ..., 1. It sends the
// half of the rank's current part that belongs to the partner's side, and adds the received half to
// the other. After each step a rank works on half as many chunks. It holds them in tensors as soon
// as they are no longer than a segment. Longer ones are kept in staging memory, and go tile by
// tile.
func recursiveHalvingReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	at := func(chunk int) int { // where a chunk begins, in elements
		if chunk == n {
			return inputElems(a, n)
		}
		return packed(a, n, chunk).Lo
	}
	v, stage := bringBlocks(c, a)
	first, k := 0, topology.Hops(n)-1                             // v has the chunks from first on
	for ; k >= 0 && at(2<<k)*a.DType.Size() > segmentBytes; k-- { // all ranks alike: the first chunks are the longest
		middle := at(first+1<<k) - at(first)
		own, give := v.Slice(0, middle), v.Slice(middle, v.Len()-middle)
		if me>>k&1 == 1 {
			own, give, first = give, own, first+1<<k
		}
		v = stage.Slice(at(first), own.Len())
		for i := range strips(stage.Slice(0, at(1<<k)), 1) {
			part := c.Load(strip(own, i))
			c.Send(tl.Dim(k), c.Load(strip(give, i)))
			c.Store(strip(v, i), c.Combine(a.Op, part, c.Recv(tl.Dim(k), part.Shape(), part.DType())))
		}
	}
	out := a.Out(me, packed(a, n, me).N)
	if k < 0 {
		for i := range strips(v, 1) {
			c.Store(strip(out, i), c.Finish(a.Op, c.Load(strip(v, i)), n))
		}
		return
	}
	acc := c.Load(v)
	for ; k >= 0; k-- {
		middle := at(first+1<<k) - at(first)
		own, give := acc.Slice(0, middle), acc.Slice(middle, acc.Len()-middle)
		if me>>k&1 == 1 {
			own, give, first = give, own, first+1<<k
		}
		c.Send(tl.Dim(k), give)
		acc = c.Combine(a.Op, own, c.Recv(tl.Dim(k), own.Shape(), own.DType()))
	}
	c.Store(out, c.Finish(a.Op, acc, n))
}

// RecursiveHalvingReduceScatter has the fewest steps that a reduce-scatter can.
var RecursiveHalvingReduceScatter = Register(Algorithm{
	Name:       "recursive_halving_reduce_scatter",
	Summary:    "partners at distance N/2, ..., 2, 1 exchange halves and add: the fewest steps and bytes, for powers of two",
	Collective: "reduce_scatter",
	Topology:   "hypercube",
	Kernel:     recursiveHalvingReduceScatter,
	Window:     vectorWindow,
	Check:      powerOfTwo,
	Constraint: "N a power of two",
	Steps:      "log2 N",
	Cost:       "log2(N) alpha + (N-1)/N (beta + gamma) M: (N-1)/N M bytes per rank",
	Source:     "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.2",
})
