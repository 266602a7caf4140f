package algorithm

import (
	"fmt"

	"kernbench/tl"
)

// windowAllToAllVPairwise exchanges in steps. In step k a rank sends to the rank k further on, and
// receives from the rank k before. In step 0 that is the rank itself. Numbers of a launch set the
// first step to perform, and how many, to perform an exchange in pieces. The third one sets how
// many ranks make a server, where steps are between servers.
func windowAllToAllVPairwise(c *tl.Context, a tl.Args) {
	n, perServer := c.WorldSize(), 1
	if len(a.Ints) > 2 {
		perServer = a.Int(2)
	}
	if perServer < 1 || n%perServer != 0 {
		panic(fmt.Sprintf("servers of %d ranks among %d: all have as many, so the number must divide them", perServer, n))
	}
	first, number := 0, n/perServer
	if len(a.Ints) > 0 {
		first, number = a.Int(0), a.Int(1)
	}
	if first < 0 || number < 0 || number > n/perServer-first {
		panic(fmt.Sprintf("%d steps from step %d on: the steps are 0 to %d", number, first, n/perServer-1))
	}
	x := newExchange(c, a, perServer)
	for k := range number {
		x.step(first + k)
	}
}

// WindowAllToAllVPairwise exchanges with one partner after the other.
var WindowAllToAllVPairwise = Register(Algorithm{
	Name:       "window_all_to_all_v_pairwise",
	Summary:    "blocks of any size, with one partner to send to and one to take from at a time, in chunks of a slot of a symmetric window",
	Collective: "all_to_all_v",
	Topology:   "none",
	Kernel:     windowAllToAllVPairwise,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	Window:     exchangeWindow,
	Steps:      "N steps of ceil(block / slot) rounds",
	Cost:       "(N-1) (2 alpha + beta M/N) for equal blocks of a slot: (N-1)/N M bytes and 2(N-1) notifications per rank",
	Source:     "pairwise exchange: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005",
})
