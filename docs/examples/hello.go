// guide: hello

package main

import (
	"kernbench/algorithm"
	"kernbench/tl"
)

// passOn sends this rank's vector to the next rank and keeps what the previous one sent.
func passOn(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank()) // where this rank's elements lie; nothing is moved
	own := c.Load(mine)       // memory -> tensor; returns at once
	c.Send(tl.East, own)      // to rank+1, when the vector is there
	got := c.Recv(tl.West, own.Shape(), own.DType())
	c.Store(mine, got) // straight from the ring's slot
}

var _ = algorithm.Register(algorithm.Algorithm{
	Name:       "pass_on",
	Summary:    "every vector moves one rank to the east",
	Collective: "shift",   // what it should do: kernbench list collectives
	Topology:   "ring_1d", // whose directions it uses: kernbench list topologies
	Kernel:     passOn,
	Steps:      "1",
	Cost:       "alpha + beta M",
	Source:     "this guide",
})

// end
