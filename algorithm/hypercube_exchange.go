package algorithm

// HypercubeExchange is the all-gather of nccl-tests' hypercube.
var HypercubeExchange = Register(Algorithm{
	Name:       "hypercube_exchange",
	Summary:    "recursive doubling along the dimensions of a hypercube, as nccl-tests' hypercube does it, for powers of two",
	Collective: "hypercube",
	Topology:   "hypercube",
	Kernel:     recursiveDoublingAllGather,
	Check:      powerOfTwo,
	Constraint: "N a power of two",
	Steps:      "log2 N",
	Cost:       "log2(N) alpha + (N-1) beta M: (N-1) M bytes per rank",
	Source:     "hypercube_perf of github.com/NVIDIA/nccl-tests",
})
