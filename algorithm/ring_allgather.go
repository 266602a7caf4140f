package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// ringAllGather passes every rank's vector once round the ring: in each of N-1 steps a rank
// hands on what it got last, straight from its slot, and keeps a copy. Long vectors go round
// tile by tile.
//
// A rank sends while it still holds the slot that it received into, so n_slots must be at
// least 2.
func ringAllGather(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	mine, out := a.Shard(me), a.Out(me, n*a.NElem)
	for lo, length := range tiles(a.NElem, a.DType) {
		part := c.Load(mine.Slice(lo, length))
		c.Store(out.Chunk(n, me).Slice(lo, length), part)
		for step := range n - 1 {
			_, k := topology.RingGatherStep(me-1, step, n)
			c.Send(tl.East, part)
			c.Free(part)
			part = c.Recv(tl.West, tl.Dims(length), a.DType)
			c.Store(out.Chunk(n, k).Slice(lo, length), part)
		}
	}
}

// RingAllGather rotates vectors.
var RingAllGather = Register(Algorithm{
	Name:       "ring_allgather",
	Summary:    "every vector goes once round a ring, and each rank keeps what passes by",
	Collective: "all_gather",
	Topology:   "ring_1d",
	Kernel:     ringAllGather,
	MinSlots:   2,
	Steps:      "N-1",
	Cost:       "(N-1) (alpha + beta M): (N-1) M bytes per rank",
	Source:     "the ring of all-gather: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005, sec. 4.1",
})
