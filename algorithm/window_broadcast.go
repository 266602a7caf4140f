package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowBroadcast lets the root stage its vector, and every rank read the root's copy, the
// root too. All wait for all, though the root alone has something to say: it is the barrier
// that the other kernels have.
func windowBroadcast(c *tl.Context, a tl.Args) {
	me := c.Rank()
	data, signals := scratch(c, a, a.NElem)
	root := a.Int(0)
	theirs := c.At(data, root) // a root that does not exist is refused here

	if me == root {
		move(c, c.Local(data), a.Shard(me))
		c.PipeBarrier() // what was staged is complete before any rank is notified
	}
	meshBarrier(c, row(c, signals, 0), a.Use(0))
	move(c, a.Out(me, a.NElem), theirs)
}

// WindowBroadcast stages at the root, waits in a barrier and reads.
var WindowBroadcast = Register(Algorithm{
	Name:       "window_broadcast",
	Summary:    "the root stages its vector in a symmetric window; after a barrier every rank reads the root's copy",
	Collective: "broadcast",
	Topology:   "none",
	Kernel:     windowBroadcast,
	KernelArgs: func(int, int) []int { return []int{0} }, // the root
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world))
	},
	Steps:  "1 barrier, 1 read",
	Cost:   "2 alpha + (N-1) beta M at the root's memory: M bytes per rank but the root, N-1 notifications per rank",
	Source: "the broadcast kernel of github.com/hw-native-sys/simpler",
})
