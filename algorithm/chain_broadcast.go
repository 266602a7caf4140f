package algorithm

import "kernbench/tl"

// chainBroadcast forwards the vector from the root around to the rank before it, in pieces. Each
// rank sends a piece directly from the slot in which it arrived. The root loads a piece while the
// one before it leaves.
func chainBroadcast(c *tl.Context, a tl.Args) {
	r, me := fromRoot(c, a), c.Rank()
	mine, out, n := a.Shard(me), a.Out(me, a.NElem), pieces(c.ScratchBytes(), a, a.NElem, r.n-1)
	if r.number > 0 {
		for k := range n {
			v := c.Recv(tl.West, out.Chunk(n, k).Shape, a.DType)
			if r.number < r.n-1 {
				c.Send(tl.East, v)
			}
			c.Store(out.Chunk(n, k), v)
		}
		return
	}
	if r.n > 1 {
		next := c.Load(mine.Chunk(n, 0))
		for k := range n {
			v := next
			if k+1 < n {
				next = c.Load(mine.Chunk(n, k+1))
			}
			c.Send(tl.East, v)
			if out.Addr != mine.Addr {
				c.Store(out.Chunk(n, k), v)
			}
			c.Free(v)
		}
		return
	}
	keep(c, out, mine)
}

// ChainBroadcast moves long vectors at the rate of one link, for any number of ranks.
var ChainBroadcast = Register(Algorithm{
	Name:       "chain_broadcast",
	Summary:    "the vector goes along a chain of ranks in pieces, and a rank forwards a piece while the next one arrives: for long vectors",
	Collective: "broadcast",
	Topology:   "ring_1d",
	Kernel:     chainBroadcast,
	KernelArgs: firstIsRoot,
	Pipelined:  true,
	Path:       chainFrom,
	Steps:      "N-2+c for c pieces",
	Cost:       "(N-2+c) (alpha + beta M/c), least for c = sqrt((N-2) beta M/alpha): (N-1) M bytes in all",
	Source:     "the pipelined chain of Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra, Performance analysis of MPI collective operations, Cluster Computing 10(2), 2007",
})
