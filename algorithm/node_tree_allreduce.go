package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// nodeTreeAllReduce adds up along a chain in each node, to its first rank, and then along two
// binary trees over the nodes. The result takes the same way back. Each tree has half of the vector
// and moves it in chunks, in the rounds of doubleTreeAllReduce. A rank of a chain is as far below
// the first rank of its node as its place. Each tree has its own rings in a chain.
func nodeTreeAllReduce(c *tl.Context, a tl.Args) {
	h, width := channelOf(c, &a), topology.NodeWidth(c.WorldSize(), a.Levels)
	node, place, nodes := h.me/width, h.me%width, h.n/width
	height := width - 1 + treeHeight(nodes)
	var trees [2]chunkedTree
	for i := range trees {
		t := newChunkedTree(c, a, i, max(1, height))
		t.at(i, node, nodes)
		if t.depth += place; place > 0 {
			t.parent, t.children = topology.ChainDirs[i].Back, nil
		}
		if place < width-1 {
			t.children = append(t.children, topology.ChainDirs[i].Along)
		}
		trees[i] = t
	}
	reduceOnTrees(&trees, height)
}

// NodeTreeAllReduce has chains in nodes and trees between them.
var NodeTreeAllReduce = Register(Algorithm{
	Name:       "node_tree_allreduce",
	Summary:    "sums go along a chain in each node and along two binary trees over the nodes, in chunks, and the result goes back the same way",
	Collective: "all_reduce",
	Topology:   "node_trees",
	Kernel:     nodeTreeAllReduce,
	Rails:      true,
	Trees:      true,
	Pipelined:  true,
	MinSlots:   2,
	Steps:      "2 (L-1 + log2(N/L)) + k - 1 for k chunks per tree, and nodes of L ranks",
	Cost:       "2 (L-1) alpha_node + 2 log2(N/L) alpha_network + 2 beta M, and the filling of the pipeline",
	Source:     "algorithm Tree of github.com/NVIDIA/nccl; the two trees: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel Computing 35(12), 2009",
})
