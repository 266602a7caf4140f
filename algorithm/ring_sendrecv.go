package algorithm

import "kernbench/tl"

// ringSendRecv sends a vector to the next rank and receives that of the one before. A long one goes
// in pieces, several in flight. While one is in flight the next is loaded, and the previous one is
// stored, where the result may take the vector's place.
func ringSendRecv(c *tl.Context, a tl.Args) {
	me := c.Rank()
	mine, out := a.Shard(me), a.Out(me, a.NElem)
	c.UseChannels(a.TransferChannels)
	if slots, _ := c.Slots(); slots == 1 { // which a piece that is held would keep from the next one
		c.SendRef(tl.East, mine)
		c.RecvTo(tl.West, out)
		return
	}
	p := piecesOf(c, &a, a.NElem, 1)
	next := c.Load(mine.Chunk(p.number, 0))
	for i := range p.number + p.flight {
		if before := i - p.flight; before >= 0 {
			to := out.Chunk(p.number, before)
			c.Store(to, c.Recv(tl.West, to.Shape, to.DType))
		}
		if i < p.number {
			piece := next
			if i+1 < p.number {
				next = c.Load(mine.Chunk(p.number, i+1))
			}
			c.Send(tl.East, piece)
			c.Free(piece)
		}
	}
}

// RingSendRecv measures the rate of a link.
var RingSendRecv = Register(Algorithm{
	Name:       "ring_sendrecv",
	Summary:    "every rank sends to the next and receives from the one before, in pieces",
	Collective: "sendrecv",
	Topology:   "ring_1d",
	Kernel:     ringSendRecv,
	Pipelined:  true,
	Steps:      "1",
	Cost:       "alpha + beta M: M bytes per rank",
	Source:     "sendrecv_perf of github.com/NVIDIA/nccl-tests",
})
