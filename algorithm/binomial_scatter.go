package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// binomialScatter sends blocks down a binomial tree. Each child gets, in one message, its own block
// and those of the ranks below it, which are contiguous when counted from the root. So the root
// first copies its blocks into this order in staging memory, unless it is rank 0. Inner ranks
// receive into their staging memory.
func binomialScatter(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	m := a.NElem / r.n
	all := staging(c, a, a.NElem) // the blocks of the ranks from this one on
	up, children := topology.BinomialStep(r.number, r.n)
	switch {
	case up >= 0:
		c.RecvTo(topology.HopWest(up), run(all, r.n, 0, r.below(r.number)))
	case r.root == 0 && a.InBlocks == nil:
		all = a.Shard(me)
	default:
		for i := range r.n {
			move(c, all.Chunk(r.n, i), a.InBlock(me, r.n, r.rank(i)))
		}
	}
	for k := children - 1; k >= 0; k-- {
		c.SendRef(topology.HopEast(k), run(all, r.n, 1<<k, r.below(r.number+1<<k)))
	}
	keep(c, a.Out(me, m), all.Chunk(r.n, 0))
}

// BinomialScatter has the fewest steps that a scatter can.
var BinomialScatter = Register(Algorithm{
	Name:       "binomial_scatter",
	Summary:    "blocks go down a binomial tree: the fewest steps, for small blocks",
	Collective: "scatter",
	Topology:   "circulant",
	Kernel:     binomialScatter,
	KernelArgs: firstIsRoot,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return stagingLayout(world, 1, nElem, t)
	},
	Steps:  "ceil(log2 N)",
	Cost:   "ceil(log2 N) alpha + (N-1)/N beta M: log2(N)/2 M bytes in all for powers of two",
	Source: "Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience, Concurrency Computat.: Pract. Exper. 19(13), 2007",
})
