package algorithm

import "kernbench/tl"

// windowAllToAllV exchanges with all ranks in one step.
func windowAllToAllV(c *tl.Context, a tl.Args) {
	newExchange(c, a, c.WorldSize()).step(0)
}

// WindowAllToAllV exchanges with all ranks at once.
var WindowAllToAllV = Register(Algorithm{
	Name:       "window_all_to_all_v",
	Summary:    "blocks of any size go to all ranks at once, in chunks of a slot of the receiver's symmetric window, each credited before the next",
	Collective: "all_to_all_v",
	Topology:   "none",
	Kernel:     windowAllToAllV,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window:     exchangeWindow,
	Steps:      "1 step of ceil(largest block / slot) rounds",
	Cost:       "(N-1) beta M/N + 2 alpha for equal blocks of a slot: (N-1)/N M bytes and 2(N-1) notifications per rank",
	Source:     "MPI_Alltoallv, MPI: A Message-Passing Interface Standard 4.1, 6.8; credits by the slot: Kung, Blackwell, Chapman, Credit-based flow control for ATM networks, SIGCOMM 1994",
})
