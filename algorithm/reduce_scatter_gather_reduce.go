package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// reduceScatterGatherReduce first halves like halvingDoublingAllReduce, so that each rank has a
// part of the sum. Then it gathers the parts up a binomial tree. In dimension k ranks whose number
// differs from the root's in bit k send all their parts to their neighbour, which continues. So the
// root receives at most 2 M bytes, in place of log2 N times M in a binomial tree.
//
// Parts are collected in staging memory, except at the root. A rank beyond a power of two first
// sends its vector to a host. If it is the root, it gets the sum from its host.
//
// Each direction carries two messages, and the first one's slot is held until the second is taken.
// So n_slots must be at least 2, unless parts are longer than a slot.
func reduceScatterGatherReduce(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	ranks, dims := topology.Fold(r.n)
	host := r.root % ranks // the root, or its host
	all := staging(c, a, a.NElem)
	if me == r.root {
		all = a.Out(me, a.NElem)
	}
	per := segmentBytes / a.DType.Size()
	for lo := 0; lo < a.NElem; lo += per {
		n := min(per, a.NElem-lo)
		dst, sum := all.Slice(lo, n), c.Load(a.Shard(me).Slice(lo, n))
		if me >= ranks {
			c.Send(tl.Dim(dims), sum)
			if me == r.root {
				c.RecvTo(tl.Dim(dims), dst)
			}
			continue
		}
		if me+ranks < r.n {
			sum = c.Combine(a.Op, sum, c.Recv(tl.Dim(dims), sum.Shape(), sum.DType()))
		}
		gatherHalves(c, host, dims, halveDown(c, a.Op, dst, sum, dims))
		if me == host && host != r.root {
			c.SendRef(tl.Dim(dims), dst)
		}
	}
}

// halveDown leaves each rank of a hypercube with a part of the sum, in memory. It lists the parts
// that the rank had before each dimension, and the last one.
func halveDown(c *tl.Context, op tl.ReduceOp, dst tl.Ref, sum tl.Tensor, dims int) []tl.Ref {
	parts := []tl.Ref{dst}
	for k := range dims {
		half := c.Rank() >> k & 1
		parts = append(parts, parts[k].Chunk(2, half))
		own, give := halves(sum, half)
		c.Send(tl.Dim(k), give)
		sum = c.Combine(op, own, c.Recv(tl.Dim(k), own.Shape(), own.DType()))
	}
	c.Store(parts[dims], c.Finish(op, sum, c.WorldSize()))
	return parts
}

// gatherHalves collects them at one rank.
func gatherHalves(c *tl.Context, at, dims int, parts []tl.Ref) {
	for k := dims - 1; k >= 0; k-- {
		if (c.Rank()^at)>>k&1 == 1 {
			c.SendRef(tl.Dim(k), parts[k+1])
			return
		}
		c.RecvTo(tl.Dim(k), parts[k].Chunk(2, 1-c.Rank()>>k&1))
	}
}

// ReduceScatterGatherReduce is for long vectors among few ranks.
var ReduceScatterGatherReduce = Register(Algorithm{
	Name:       "reduce_scatter_gather_reduce",
	Summary:    "reduce-scatter by recursive halving, then parts go up a binomial tree to the root: for long vectors",
	Collective: "reduce",
	Topology:   "hypercube",
	Kernel:     reduceScatterGatherReduce,
	KernelArgs: firstIsRoot,
	Window:     vectorWindow,
	Steps:      "2 floor(log2 N), and 1 or 2 more unless N is a power of two",
	Cost:       "2 log2(N) alpha + (N-1)/N (2 beta + gamma) M",
	Source:     "Rabenseifner's algorithm: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.5",
})
