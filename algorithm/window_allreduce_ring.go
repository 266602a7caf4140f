package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// windowAllReduceRing is the chunked ring by reads: in every step a rank reads one chunk from
// its left neighbour's copy of the window, in the first N-1 steps to add it to its own, then
// to keep it. Chunk k comes together on its way from rank k+1 round to rank k.
//
// One barrier per step is enough, and it needs no word to the left. What a rank overwrites in
// step s of the second half its right neighbour has read in step s of the first; that
// neighbour's next notification, handed on from rank to rank, comes round in the N-1 steps
// between.
func windowAllReduceRing(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	left, right := (me+n-1)%n, (me+1)%n
	data, signals := scratch(c, a, a.NElem)

	move(c, c.Local(data), a.Shard(me))
	meet := func(round int) {
		c.PipeBarrier() // the last step's chunk is stored, and so the left one's is read
		r := signals.At(round * ringRow)
		tell(c, r.At(fromLeft), right)
		heed(c, r.At(fromLeft), once)
	}
	for step := range n - 1 {
		meet(step)
		_, k := topology.RingStep(me-1, step, n)
		chunk := data.Chunk(n, k)
		for lo, length := range tiles(chunk.Len(), a.DType) {
			part := chunk.Slice(lo, length)
			acc := c.Combine(a.Op, c.Load(c.At(part, left)), c.Load(c.Local(part)))
			if k == me {
				acc = c.Finish(a.Op, acc, n)
			}
			c.Store(c.Local(part), acc)
		}
	}
	for step := range n - 1 {
		meet(n - 1 + step)
		_, k := topology.RingGatherStep(me-1, step, n)
		chunk := data.Chunk(n, k)
		move(c, c.Local(chunk), c.At(chunk, left))
	}
	move(c, a.Out(me, a.NElem), c.Local(data))
}

// WindowAllReduceRing reads from the left neighbour only.
var WindowAllReduceRing = Register(Algorithm{
	Name:       "window_allreduce_ring",
	Summary:    "reduce-scatter, then all-gather, on a ring: every rank reads from its left neighbour's symmetric window",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceRing,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		// One chunk more than is used: windows for this algorithm are sized so where they
		// are sized by hand, with room for a chunk on its way.
		return scratchLayout(world, nElem+tl.CDiv(nElem, max(1, world)), t, 2*(world-1), ringRow)
	},
	Steps:  "2(N-1) barriers and reads",
	Cost:   "2(N-1) (2 alpha + beta M/N): 2(N-1)/N M bytes and 2(N-1) notifications per rank",
	Source: "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. Comput. 69(2), 2009; by reads: mode ring of github.com/hw-native-sys/simpler",
})
