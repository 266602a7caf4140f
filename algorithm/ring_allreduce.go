package algorithm

import "kernbench/tl"

// ringAllReduce passes every rank's vector once round the ring; each rank adds up what passes by. A
// rank forwards the vector just received, straight from its slot, not the sum: a sum sent on would
// count contributions twice.
//
// A rank forwards from the slot that it holds, so a ring of n slots has n-1 to receive into. With
// n_slots: 1 and three ranks or more it hangs. Ranks add in different orders, so their
// floating-point results differ in the last bits.
//
// A vector that does not fit into scratch goes round in pieces.
func ringAllReduce(c *tl.Context, a tl.Args) {
	mine, out := a.Shard(c.Rank()), a.Out(c.Rank(), a.NElem)
	piece := ringPiece(c, &a)
	for lo := 0; lo == 0 || lo < a.NElem; lo += piece {
		n := min(piece, a.NElem-lo)
		acc := c.Load(mine.Slice(lo, n))
		current := acc
		for range c.WorldSize() - 1 {
			c.Send(tl.East, current)
			recv := c.Recv(tl.West, acc.Shape(), acc.DType())
			acc = c.Combine(a.Op, acc, recv)
			current = recv
		}
		c.Store(out.Slice(lo, n), c.Finish(a.Op, acc, c.WorldSize()))
	}
}

// ringPiece returns how many elements go around at once. It is all of them, or as many as scratch
// can hold of the sum, the received data, and the next sum. What fits a slot stays there.
func ringPiece(c *tl.Context, a *tl.Args) int {
	vectors := int64(3)
	_, slot := c.Slots()
	size := int64(a.DType.Size())
	switch {
	case c.WorldSize() == 1:
		vectors = 1
	case int64(a.NElem)*size <= slot:
		vectors = 2
	}
	if int64(a.NElem)*size*vectors <= c.ScratchBytes() {
		return max(1, a.NElem)
	}
	return max(1, int(c.ScratchBytes()/vectors/size))
}

// RingAllReduce rotates whole vectors.
var RingAllReduce = Register(Algorithm{
	Name:       "ring_allreduce",
	Summary:    "whole vectors go once round the ring and are added up on the way: N/2 times the bytes of the chunked form",
	Collective: "all_reduce",
	Topology:   "ring_1d",
	Kernel:     ringAllReduce,
	MinSlots:   2,
	Steps:      "N-1",
	Cost:       "(N-1) (alpha + beta M): (N-1) M bytes per rank",
	Source:     "the all-to-all broadcast on a ring with a sum on the way: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 2nd ed., sec. 4.2",
})
