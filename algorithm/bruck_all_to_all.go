package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// bruckAllToAll forwards blocks by hops. Block i of a rank is for the rank i further on, and makes
// the hops 2^k whose sum is i. In step k a rank sends all blocks whose number has bit k, in one
// message, to the rank 2^k further on. The blocks from the rank 2^k before take their places. After
// the last step place i has the block from the rank i before.
//
// Each block moves once per bit of its number, but messages are few, which is faster for small
// blocks. Messages are assembled, and arrive, in staging memory.
func bruckAllToAll(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	m := inputElems(a, n) / n
	rest := staging(c, a, bruckBlocks(n)*m)
	area := func(blocks int) tl.Ref { // the next blocks of the staging memory
		r := rest.Slice(0, blocks*m)
		rest = rest.Slice(blocks*m, rest.Len()-blocks*m)
		return r
	}
	pack := area(n / 2)
	place := make([]tl.Ref, n) // where block i is
	for i := range place {
		place[i] = a.InBlock(me, n, (me+i)%n)
	}
	for k := range topology.Hops(n) {
		count := hopping(n, k)
		came := area(count)
		j := 0
		for i := range n {
			if i>>k&1 == 1 {
				move(c, pack.Slice(j*m, m), place[i])
				place[i] = came.Slice(j*m, m)
				j++
			}
		}
		c.SendRef(topology.HopEast(k), pack.Slice(0, count*m))
		c.RecvTo(topology.HopWest(k), came)
	}
	for i, p := range place {
		keep(c, a.OutBlock(me, n*m, n, (me-i+n)%n), p)
	}
}

// hopping returns how many of n blocks make hop k.
func hopping(n, k int) int {
	whole, rest := n>>(k+1), n&(1<<(k+1)-1)
	return whole<<k + max(0, rest-1<<k)
}

// bruckBlocks returns the number of blocks in staging memory: those of each arriving message, and
// of the one that is assembled.
func bruckBlocks(n int) int {
	blocks := n / 2
	for k := range topology.Hops(n) {
		blocks += hopping(n, k)
	}
	return blocks
}

// BruckAllToAll sends few messages of many blocks.
var BruckAllToAll = Register(Algorithm{
	Name:       "bruck_all_to_all",
	Summary:    "blocks go by hops of 1, 2, 4, ... ranks, and all blocks of a hop share one message: the fewest steps, for small blocks",
	Collective: "all_to_all",
	Topology:   "circulant",
	Kernel:     bruckAllToAll,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return stagingLayout(world, bruckBlocks(max(1, world)), tl.CDiv(nElem, max(1, world)), t)
	},
	Steps:  "ceil(log2 N)",
	Cost:   "ceil(log2 N) (alpha + beta M/2) for powers of two: log2(N)/2 M bytes per rank",
	Source: "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8(11), 1997, sec. 3",
})
