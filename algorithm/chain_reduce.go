package algorithm

import "kernbench/tl"

// chainReduce is the chain of a broadcast reversed. Sums of pieces go from the rank before the root
// round to the root, and each rank adds its own part. It loads that part while the sum is on its
// way.
func chainReduce(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	mine, n := a.Shard(me), pieces(c.ScratchBytes(), a, a.NElem, r.n-1)
	next := c.Load(mine.Chunk(n, 0))
	for k := range n {
		acc := next
		if k+1 < n {
			next = c.Load(mine.Chunk(n, k+1))
		}
		if r.number < r.n-1 {
			acc = c.Combine(a.Op, acc, c.Recv(tl.East, acc.Shape(), acc.DType()))
		}
		if r.number > 0 {
			c.Send(tl.West, acc)
		} else {
			c.Store(a.Out(me, a.NElem).Chunk(n, k), c.Finish(a.Op, acc, r.n))
		}
	}
}

// ChainReduce moves long vectors at the rate of one link, for any number of ranks.
var ChainReduce = Register(Algorithm{
	Name:       "chain_reduce",
	Summary:    "sums go along a chain of ranks to the root in pieces, and a rank forwards a piece while the next one arrives: for long vectors",
	Collective: "reduce",
	Topology:   "ring_1d",
	Kernel:     chainReduce,
	KernelArgs: firstIsRoot,
	Pipelined:  true,
	Path:       chainTo,
	Steps:      "N-2+c for c pieces",
	Cost:       "(N-2+c) (alpha + (beta + gamma) M/c), least for c = sqrt((N-2) beta M/alpha): (N-1) M bytes in all",
	Source:     "the pipelined chain of Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra, Performance analysis of MPI collective operations, Cluster Computing 10(2), 2007",
})
