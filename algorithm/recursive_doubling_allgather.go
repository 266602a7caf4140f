package algorithm

import (
	"fmt"

	"kernbench/tl"
	"kernbench/topology"
)

// recursiveDoublingAllGather takes log2(N) steps. In step k a rank and its partner at distance 2^k
// exchange all that they have: the vectors of 2^k consecutive ranks each. Then both have 2^(k+1).
func recursiveDoublingAllGather(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	out := a.Out(me, n*a.NElem)
	keep(c, out.Chunk(n, me), a.Shard(me))
	for k := range topology.Hops(n) {
		have := 1 << k
		mine := me &^ (have - 1) // the first rank whose vector this rank has
		c.SendRef(tl.Dim(k), run(out, n, mine, have))
		c.RecvTo(tl.Dim(k), run(out, n, mine^have, have))
	}
}

// powerOfTwo reports whether every rank has a partner in each dimension of a hypercube.
func powerOfTwo(world, _ int) error {
	if world < 1 || world&(world-1) != 0 {
		return fmt.Errorf("%d ranks: each needs a partner at every distance, so the number must be a power of two", world)
	}
	return nil
}

// RecursiveDoublingAllGather has the fewest steps that an all-gather can.
var RecursiveDoublingAllGather = Register(Algorithm{
	Name:       "recursive_doubling_allgather",
	Summary:    "partners at distance 1, 2, 4, ... exchange all that they have: the fewest steps, for powers of two",
	Collective: "all_gather",
	Topology:   "hypercube",
	Kernel:     recursiveDoublingAllGather,
	Check:      powerOfTwo,
	Constraint: "N a power of two",
	Steps:      "log2 N",
	Cost:       "log2(N) alpha + (N-1) beta M: (N-1) M bytes per rank",
	Source:     "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.1",
})
