package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// torusBroadcast sends one part of the vector down each of 2D spanning trees of a torus of D
// dimensions. No two trees share a link in one direction. So the root sends over all its links at
// the same time, and every other rank receives one part over each of its links.
//
// Each dimension has two trees, which go in opposite directions. Places count from the root. In
// the trees of dimension d, a rank whose place along d is 0 gets its part along d. Any other rank
// gets it along the next dimension in which its place is not 0; that is d itself if there is no
// other. So at each rank the trees of different dimensions come along different dimensions.
//
// A part goes in pieces. In step t a rank receives piece t - lag·(depth of the rank in the tree),
// and sends it on. Its parent has sent the piece lag steps before, so that no rank waits for ever.
// A rank sends while it holds the slot that it received into, so n_slots must be at least 2.
func torusBroadcast(c *tl.Context, a tl.Args) {
	me, root := c.Rank(), fromRoot(c, a).root
	own, out := a.Shard(me), a.Out(me, a.NElem)
	dims := levelCircles(c, &a)
	trees := linkTrees(dims, root)
	if len(trees) == 0 {
		keep(c, out, own)
		return
	}
	n, lag := treeSteps(c, a, len(trees))
	piece := func(v tl.Ref, i, k int) tl.Ref { return v.Chunk(len(trees), i).Chunk(n, k) }
	load := func(k int) (came []tl.Tensor) {
		if me == root && k < n {
			for i := range trees {
				came = append(came, c.Load(piece(own, i, k)))
			}
		}
		return came
	}
	next, deepest := load(0), 1
	for _, d := range dims {
		deepest += d.n - 1
	}
	for t := range n + lag*deepest {
		came := next
		next = load(t + 1)
		for i, tree := range trees {
			k := t - lag*tree.depth
			if k < 0 || k >= n {
				continue
			}
			to := piece(out, i, k)
			var v tl.Tensor
			if me == root {
				v = came[i]
			} else {
				v = c.Recv(tree.from, to.Shape, a.DType)
			}
			for _, child := range tree.to {
				c.Send(child, v)
			}
			if me != root || out.Addr != own.Addr {
				c.Store(to, v)
			}
			c.Free(v)
		}
	}
}

// treeSteps returns the number of pieces of each of some parts, and the steps from a rank to the
// next one in its tree. A piece passes a link in one step. So the steps are as many as pieces pass
// until the first one has arrived, with a quarter of the latency to spare. Of a quarter of the
// slots that many messages are in flight, and as many credits. What a send waits for, if all slots
// are full, must be an earlier step of the receiver: lag is less than n_slots.
func treeSteps(c *tl.Context, a tl.Args, parts int) (pieces, lag int) {
	latency := a.LatencyBytes
	if latency == 0 {
		latency = usualLatencyBytes
	}
	latency += latency / 4
	slots, slot := c.Slots()
	bytes := a.ChunkBytes
	if bytes == 0 {
		bytes = max(8<<10, latency/int64(max(1, slots/4)))
	}
	bytes = max(int64(a.DType.Size()), min(bytes, slot, c.ScratchBytes()/int64(8*parts)))
	part := int64(tl.CDiv(a.NElem, parts)) * int64(a.DType.Size())
	return max(1, int((part+bytes-1)/bytes)), max(1, min(1+int((latency+bytes-1)/bytes), slots-1))
}

// linkTree is a rank's place in one of the trees.
type linkTree struct {
	depth int
	from  tl.Dir   // of all but the root
	to    []tl.Dir // of the children
}

// linkTrees returns the places of a rank in the trees from a root, two for each dimension.
func linkTrees(dims []levelCircle, root int) []linkTree {
	at := make([]int, len(dims)) // from the root
	for k, d := range dims {
		at[k] = (d.me - root%d.n + d.n) % d.n
		root /= d.n
	}
	trees := make([]linkTree, 2*len(dims))
	for i := range trees {
		t, dim, west := &trees[i], i/2, i%2 == 1
		t.depth = linkDepth(dims, at, dim, west)
		if along := alongDim(at, dim); along >= 0 {
			t.from = eastOrWest(dims[along], !west)
		}
		for k, d := range dims {
			to := append([]int(nil), at...)
			to[k] = stepAlong(at[k], d.n, west)
			if alongDim(to, dim) == k {
				t.to = append(t.to, eastOrWest(d, west))
			}
		}
	}
	return trees
}

// linkDepth returns the number of steps from the root to a place in the trees of a dimension.
func linkDepth(dims []levelCircle, at []int, dim int, west bool) (depth int) {
	at = append([]int(nil), at...)
	for along := alongDim(at, dim); along >= 0; along = alongDim(at, dim) {
		at[along] = stepAlong(at[along], dims[along].n, !west)
		depth++
	}
	return depth
}

// stepAlong returns the place after another on a ring of n, to the east or to the west.
func stepAlong(at, n int, west bool) int {
	if west {
		return (at + n - 1) % n
	}
	return (at + 1) % n
}

func eastOrWest(d levelCircle, west bool) tl.Dir {
	if west {
		return topology.LevelWest(d.level)
	}
	return topology.LevelEast(d.level)
}

// alongDim returns the dimension along which a part comes to a place, in the trees of a dimension.
// It is -1 at the root.
func alongDim(at []int, dim int) int {
	if at[dim] == 0 {
		for _, x := range at {
			if x != 0 {
				return dim
			}
		}
		return -1
	}
	for k := 1; k < len(at); k++ {
		if other := (dim + k) % len(at); at[other] != 0 {
			return other
		}
	}
	return dim
}

// TorusBroadcast uses all links of a torus of any number of dimensions.
var TorusBroadcast = Register(Algorithm{
	Name:       "torus_broadcast",
	Summary:    "a part of the vector goes down each of two spanning trees for each level of the machine; the trees run round its rings in opposite directions and share no link: all links of a torus are busy",
	Collective: "broadcast",
	Topology:   "hierarchical",
	Kernel:     torusBroadcast,
	KernelArgs: firstIsRoot,
	MinSlots:   2,
	Pipelined:  true,
	Steps:      "sum(n_k - 1) + 1 + c for c pieces of a part",
	Cost:       "(sum(n_k - 1) + 1 + c) (alpha + beta M/2Dc) on a torus of D dimensions: (N-1) M bytes in all",
	Source:     "edge-disjoint spanning trees: Watts, van de Geijn, A pipelined broadcast for multidimensional meshes, Parallel Processing Letters 5(2), 1995; Faraj, Kumar, Smith, Mamidala, Gunnels, MPI collective communications on the Blue Gene/P supercomputer, HOTI 2009",
})
