package algorithm

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllToAll pushes: rank r puts its block d into slot r of rank d's copy of the window.
// After the barrier, every rank has N blocks in its own copy and takes them out.
func windowAllToAll(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, inputElems(a, n))
	slot := data.Chunk(n, me)

	move(c, c.Local(slot), a.InBlock(me, n, me))
	for i := 1; i < n; i++ {
		d := (me + i) % n // no rank gets two blocks at a time
		c.Put(slot, d, a.InBlock(me, n, d))
	}
	c.Fence() // at each destination the block comes before the notification
	meshBarrier(c, row(c, signals, 0), a.Use(0))
	takeBlocks(c, a, n, data)
}

// equalBlocks reports whether each of the ranks can get a block of the same size.
func equalBlocks(world, nElem int) error {
	if world < 1 || nElem%world != 0 {
		return fmt.Errorf("%d elements among %d ranks: each rank gets a block of the same size, so the number must be a multiple of the ranks",
			nElem, world)
	}
	return nil
}

// WindowAllToAll puts, waits in a barrier and copies out.
var WindowAllToAll = Register(Algorithm{
	Name:       "window_all_to_all",
	Summary:    "every rank puts each block into its slot of the receiver's symmetric window and copies out after a barrier",
	Collective: "all_to_all",
	Topology:   "none",
	Kernel:     windowAllToAll,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world))
	},
	Steps:  "N-1 puts, 1 barrier",
	Cost:   "(N-1) beta M/N + 2 alpha: (N-1)/N M bytes and N-1 notifications per rank",
	Source: "the all-to-all kernel of github.com/hw-native-sys/simpler in its later form, which pushes",
})
