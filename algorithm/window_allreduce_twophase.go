package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllReduceTwoPhase is a reduce-scatter and an all-gather in one window. Every rank reduces
// its own chunk out of all copies. It puts the result in the place of the chunk in its own copy,
// which no other rank reads before the second barrier. Each element is reduced by one rank, so that
// all ranks end with the same bits.
func windowAllReduceTwoPhase(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, a.NElem)
	out, use := a.Out(me, a.NElem), a.Use(0)

	move(c, c.Local(data), a.Shard(me))
	c.PipeBarrier() // what was staged is complete before any rank is notified
	meshBarrier(c, row(c, signals, 0), use)
	reduce(c, a.Op, c.Local(data.Chunk(n, me)), data.Chunk(n, me))

	c.PipeBarrier() // and so is the result
	meshBarrier(c, row(c, signals, 1), use)
	takeEach(c, a, func(peer int) (to, from tl.Ref) {
		return out.Chunk(n, peer), c.At(data.Chunk(n, peer), peer)
	})
}

// WindowAllReduceTwoPhase moves the fewest bytes that an all-reduce can, in two barriers.
var WindowAllReduceTwoPhase = Register(Algorithm{
	Name:       "window_allreduce_twophase",
	Summary:    "reduce-scatter, then all-gather, by reads of a symmetric window: the fewest bytes in two barriers",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceTwoPhase,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 2, meshRow(world))
	},
	Steps:  "2 barriers, 2(N-1) reads",
	Cost:   "2 alpha + 2(N-1) (alpha + beta M/N): 2(N-1)/N M bytes and 2(N-1) notifications per rank",
	Source: "mode twophase of the all-reduce kernels of github.com/hw-native-sys/simpler; elsewhere: two-shot, pull",
})
