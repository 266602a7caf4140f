package algorithm

import "kernbench/tl"

// helloSend is the smallest program that communicates: every rank sends its vector east
// and keeps what comes from the west. Sends return as soon as the ring has a free slot,
// so all ranks may send first.
func helloSend(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	own := c.Load(mine)
	c.Send(tl.East, own)
	got := c.Recv(tl.West, own.Shape(), own.DType())
	c.Store(a.Out(c.Rank(), a.NElem), got)
}

// HelloSend rotates the vectors by one rank.
var HelloSend = Register(Algorithm{
	Name:       "hello_send",
	Summary:    "send to the east, receive from the west: the first program to write",
	Collective: "shift",
	Topology:   "ring_1d",
	Kernel:     helloSend,
	Steps:      "1",
	Cost:       "alpha + beta M",
	Source:     "folklore",
})
