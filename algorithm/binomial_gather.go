package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// binomialGather collects vectors up a binomial tree. A rank appends the vectors of its children to
// its own, and sends all in one message to its parent. Counted from the root, the ranks below a
// child are contiguous, and so are their vectors. They are collected in staging memory. Only the
// result of rank 0 as the root has this order itself.
func binomialGather(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	all := staging(c, a, r.n*a.NElem) // the vectors of the ranks from this one on
	if r.number == 0 && r.root == 0 && a.OutBlocks == nil {
		all = a.Out(me, r.n*a.NElem)
	}
	up, children := topology.BinomialStep(r.number, r.n)
	keep(c, all.Chunk(r.n, 0), a.Shard(me))
	for k := range children {
		c.RecvTo(topology.HopEast(k), run(all, r.n, 1<<k, r.below(r.number+1<<k)))
	}
	if up >= 0 {
		c.SendRef(topology.HopWest(up), run(all, r.n, 0, r.below(r.number)))
		return
	}
	for i := range r.n {
		keep(c, a.OutBlock(me, r.n*a.NElem, r.n, r.rank(i)), all.Chunk(r.n, i))
	}
}

// BinomialGather has the fewest steps that a gather can.
var BinomialGather = Register(Algorithm{
	Name:       "binomial_gather",
	Summary:    "vectors are gathered up a binomial tree: the fewest steps, for small vectors",
	Collective: "gather",
	Topology:   "circulant",
	Kernel:     binomialGather,
	KernelArgs: firstIsRoot,
	Window:     vectorsWindow,
	Steps:      "ceil(log2 N)",
	Cost:       "ceil(log2 N) alpha + (N-1) beta M: log2(N)/2 N M bytes in all for powers of two",
	Source:     "Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience, Concurrency Computat.: Pract. Exper. 19(13), 2007",
})
