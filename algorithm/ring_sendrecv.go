package algorithm

import "kernbench/tl"

// ringSendRecv sends a vector to the next rank and receives that of the one before, from memory
// to memory, so that it may be of any length.
func ringSendRecv(c *tl.Context, a tl.Args) {
	me := c.Rank()
	c.SendRef(tl.East, a.Shard(me)) // when it returns, the result may take the vector's place
	c.RecvTo(tl.West, a.Out(me, a.NElem))
}

// RingSendRecv is what a link can do.
var RingSendRecv = Register(Algorithm{
	Name:       "ring_sendrecv",
	Summary:    "every rank sends to the next and receives from the one before, from memory to memory",
	Collective: "sendrecv",
	Topology:   "ring_1d",
	Kernel:     ringSendRecv,
	Steps:      "1",
	Cost:       "alpha + beta M: M bytes per rank",
	Source:     "sendrecv_perf of github.com/NVIDIA/nccl-tests",
})
