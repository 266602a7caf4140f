package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// windowAllReduceBidirectionalRing runs two rings in opposite directions, each on one half of
// every chunk. It pushes: in the first N-1 steps a rank combines its partial result into the
// neighbour's copy of the window, where it lies, then it puts complete halves there. Halves
// that go right come together in the order of chunk+1, chunk+2, ...; halves that go left, in
// the reverse.
//
// A rank may overwrite a neighbour's memory when that neighbour has pushed from it: puts
// return when their source has been read, and both neighbours are told after that.
func windowAllReduceBidirectionalRing(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	left, right := (me+n-1)%n, (me+1)%n
	data, signals := scratch(c, a, a.NElem)
	half := func(k, which int) tl.Sym { return data.Chunk(n, (k+2*n)%n).Chunk(2, which) }

	meet := func(round int) {
		r := signals.At(round * ringRow)
		tell(c, r.At(fromLeft), right)
		if left != right {
			tell(c, r.At(fromRight), left)
		}
		heed(c, r.At(fromLeft), once)
		if left != right {
			heed(c, r.At(fromRight), once)
		}
	}

	move(c, c.Local(data), a.Shard(me))
	if n > 1 {
		c.PipeBarrier() // what was staged is there before anybody combines into it
		meet(0)
	}
	for s := 1; s < n; s++ {
		east, west := half(me-s, 0), half(me+s, 1)
		c.PutCombine(east, right, c.Local(east), a.Op)
		c.PutCombine(west, left, c.Local(west), a.Op)
		c.Fence() // at each neighbour its half comes before the notification
		meet(s)
	}
	for s := 1; s < n; s++ {
		east, west := half(me-s+1, 0), half(me+s-1, 1)
		c.Put(east, right, c.Local(east))
		c.Put(west, left, c.Local(west))
		c.Fence()
		meet(n - 1 + s)
	}
	out := a.Out(me, a.NElem)
	for lo, length := range tiles(a.NElem, a.DType) {
		sum := c.Load(c.Local(data.Slice(lo, length)))
		c.Store(out.Slice(lo, length), c.Finish(a.Op, sum, n))
	}
}

// WindowAllReduceBidirectionalRing uses both directions of a ring at once.
var WindowAllReduceBidirectionalRing = Register(Algorithm{
	Name:       "window_allreduce_bidirectional_ring",
	Summary:    "two rings in opposite directions, each on half of every chunk, by puts that combine in the neighbour's symmetric window",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceBidirectionalRing,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 2*(world-1)+1, ringRow)
	},
	Steps:  "2(N-1)+1 barriers, 2(N-1) pairs of puts",
	Cost:   "2(N-1) (2 alpha + beta M/2N): 2(N-1)/N M bytes and 2(2N-1) notifications per rank, 3 where there are two",
	Source: "rings in both directions: Jain, Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, ICS 2010; by puts: mode bidirectional_ring of github.com/hw-native-sys/simpler",
})
