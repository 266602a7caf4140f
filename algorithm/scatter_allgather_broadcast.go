package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// scatterAllGatherBroadcast cuts the vector in as many chunks as there are ranks. First they go
// down a binomial tree, where each rank keeps those of the ranks below it and its own. Then chunks
// go once around a ring, as in ring_allgather. So the root sends 2 M bytes at most, where it sends
// log2 N times M in a binomial tree.
//
// In the ring a rank also gets chunks that it has from the tree: all ranks take the same steps.
func scatterAllGatherBroadcast(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	out := a.Out(me, a.NElem)
	up, children := topology.BinomialStep(r.number, r.n)
	if up < 0 {
		keep(c, out, a.Shard(me))
	} else {
		c.RecvTo(topology.HopWest(up), run(out, r.n, r.number, r.below(r.number)))
	}
	for k := children - 1; k >= 0; k-- {
		child := r.number + 1<<k
		c.SendRef(topology.HopEast(k), run(out, r.n, child, r.below(child)))
	}
	for i := range strips(out, r.n) {
		part := c.Load(strip(out.Chunk(r.n, r.number), i))
		for step := range r.n - 1 {
			_, k := topology.RingGatherStep(r.number-1, step, r.n)
			c.Send(topology.HopEast(0), part)
			c.Free(part)
			to := strip(out.Chunk(r.n, k), i)
			part = c.Recv(topology.HopWest(0), to.Shape, a.DType)
			c.Store(to, part)
		}
	}
}

// strips returns the number of strips of each of n chunks of a vector. A strip is no longer than a
// tile. All chunks have equally many, so that all ranks take the same steps.
func strips(v tl.Ref, n int) int {
	return max(1, tl.CDiv(v.Chunk(n, 0).Len(), tileBytes/v.DType.Size())) // no chunk is longer than the first
}

// strip is strip i of a chunk: shorter than the others, or empty, where the chunk ends.
func strip(chunk tl.Ref, i int) tl.Ref {
	per := tileBytes / chunk.DType.Size()
	lo := min(i*per, chunk.Len())
	return chunk.Slice(lo, min(per, chunk.Len()-lo))
}

// ScatterAllGatherBroadcast is for long vectors among few ranks.
var ScatterAllGatherBroadcast = Register(Algorithm{
	Name:       "scatter_allgather_broadcast",
	Summary:    "chunks of the vector go down a binomial tree and then once round a ring: for long vectors",
	Collective: "broadcast",
	Topology:   "circulant",
	Kernel:     scatterAllGatherBroadcast,
	KernelArgs: firstIsRoot,
	MinSlots:   2,
	Steps:      "ceil(log2 N) + N-1",
	Cost:       "(log2 N + N-1) alpha + 2(N-1)/N beta M",
	Source:     "Barnett, Shuler, van de Geijn, Gupta, Payne, Watts, Interprocessor collective communication library (InterCom), Scalable High Performance Computing Conference 1994",
})
