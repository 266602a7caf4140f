package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowBarrier is the rendezvous of the window's team, which counts itself how often each
// member has come. Of the window it uses nothing.
func windowBarrier(c *tl.Context, a tl.Args) {
	c.Sync(a.Window(0).Team)
}

// WindowBarrier waits until all have come.
var WindowBarrier = Register(Algorithm{
	Name:       "window_barrier",
	Summary:    "a dissemination barrier on the words of a team: log2 N rounds, and it can be used any number of times",
	Collective: "barrier",
	Topology:   "none",
	Kernel:     windowBarrier,
	Window: func(int, int, dtype.Type) (*mem.Layout, error) {
		return mem.NewLayout(8, nil)
	},
	Steps:  "ceil(log2 N)",
	Cost:   "ceil(log2 N) alpha",
	Source: "Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, Int. J. Parallel Programming 17(1), 1988",
})
