package algorithm

import (
	"cmp"
	"slices"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// This file is shared by the all-gather and the reduce-scatter that keep all links of a torus busy.
// Each block has two parts for each dimension, as in bucketAllReduce. Each pair begins with a
// dimension of its own, and its parts go around in opposite directions. Along a dimension a rank
// passes all blocks that it has by then. Blocks with one place in the other dimensions are the
// chunks of a ring.

// bucketRoute is a part of all blocks, with the dimensions in its order.
type bucketRoute struct {
	i, parts int
	west     bool
	dims     []levelCircle
	strides  []int // of ranks, by dimension
}

// bucketRoutes returns the parts of a block.
func bucketRoutes(dims []levelCircle) []*bucketRoute {
	var all []*bucketRoute
	for i := range 2 * len(dims) {
		r := &bucketRoute{i: i, parts: 2 * len(dims), west: i%2 == 1}
		for k := range dims {
			at := (i/2 + k) % len(dims)
			stride := 1
			for _, d := range dims[:at] {
				stride *= d.n
			}
			r.dims, r.strides = append(r.dims, dims[at]), append(r.strides, stride)
		}
		all = append(all, r)
	}
	return all
}

// rings returns how many rings the part has along its dimension k: one for each block that a rank
// has of the dimensions before.
func (r *bucketRoute) rings(k int) int {
	n := 1
	for _, d := range r.dims[:k] {
		n *= d.n
	}
	return n
}

// rank returns the rank at place x along dimension k in ring s. In the dimensions after k it has
// the places of this rank.
func (r *bucketRoute) rank(k, s, x int) int {
	rank := x * r.strides[k]
	for j, d := range r.dims {
		if j < k {
			rank += s % d.n * r.strides[j]
			s /= d.n
		} else if j > k {
			rank += d.me * r.strides[j]
		}
	}
	return rank
}

// ring returns ring s along dimension k. Chunk me+1, with which a ring begins to gather and ends to
// reduce, is the block of this rank's place.
func (r *bucketRoute) ring(k, s int, brings, keeps func(rank int) tl.Ref) *ringPipeline {
	p := bucketPart{west: r.west, dims: r.dims[k : k+1]}
	l := p.pipeline(0)
	l.me = p.circle(0).me
	chunk := func(of func(rank int) tl.Ref) func(j int) tl.Ref {
		return func(j int) tl.Ref {
			x := (j + l.n - 1) % l.n
			if r.west {
				x = l.n - 1 - x
			}
			return of(r.rank(k, s, x)).Chunk(r.parts, r.i)
		}
	}
	l.brings, l.keeps = chunk(brings), chunk(keeps)
	return l
}

// bucketStage takes all parts through their dimension k. Rings that share a direction follow one
// another: a slot is held until the next message of that direction.
func bucketStage(c *tl.Context, a *tl.Args, routes []*bucketRoute, k, elems int, ring func(r *bucketRoute, s int) *ringPipeline) {
	most := 0
	for _, r := range routes {
		most = max(most, r.rings(k))
	}
	pieces := piecesOf(c, a, tl.CDiv(elems, len(routes)), len(routes))
	for s := range most {
		var all []*ringPipeline
		for _, r := range routes {
			if s < r.rings(k) {
				all = append(all, ring(r, s))
			}
		}
		slices.SortStableFunc(all, func(a, b *ringPipeline) int { return cmp.Compare(b.steps(), a.steps()) })
		goRound(c, a.Op, pieces, all...)
	}
}

func bucketAllGather(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	block := func(rank int) tl.Ref { return a.OutBlock(me, n*a.NElem, n, rank) }
	keep(c, block(me), a.Shard(me))
	dims := levelCircles(c, &a)
	routes := bucketRoutes(dims)
	for k := range dims {
		bucketStage(c, &a, routes, k, a.NElem, func(r *bucketRoute, s int) *ringPipeline {
			l := r.ring(k, s, block, block)
			l.gathers = true
			return l
		})
	}
}

// BucketAllGather uses all links of a torus of any number of dimensions.
var BucketAllGather = Register(Algorithm{
	Name:       "bucket_allgather",
	Summary:    "two parts of each block for each level of the machine go round its rings in opposite directions, then through the other levels: all links of a torus are busy",
	Collective: "all_gather",
	Topology:   "hierarchical",
	Kernel:     bucketAllGather,
	MinSlots:   2,
	Pipelined:  true,
	Steps:      "N-1: n_k - 1 along each level, for each block of the levels before",
	Cost:       "(N-1) (alpha + beta M/2D) on a torus of D dimensions: (N-1) M bytes per rank",
	Source:     "Sack, Gropp, Collective algorithms for multiported torus networks, ACM Trans. Parallel Comput. 1(2), 2015",
})

// bucketReduceScatter goes through the dimensions from the last to the first. Along the last one a
// rank brings its contribution, later what it has added up in the window.
func bucketReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	own := packed(a, n, me)
	longest := 0
	for j := range n {
		longest = max(longest, packed(a, n, j).N)
	}
	out := a.Out(me, own.N)
	in := func(rank int) tl.Ref { return a.InBlock(me, n, rank) }
	dims := levelCircles(c, &a)
	if len(dims) == 0 {
		keep(c, out, in(me))
		return
	}
	sums := staging(c, a, n*longest)
	part := func(rank int) tl.Ref { return sums.Slice(rank*longest, packed(a, n, rank).N) }
	routes := bucketRoutes(dims)
	for i := range dims {
		k := len(dims) - 1 - i
		brings, keeps := part, part
		if i == 0 {
			brings = in
		}
		if k == 0 && a.Outs != nil {
			keeps = func(int) tl.Ref { return out }
		}
		bucketStage(c, &a, routes, k, longest, func(r *bucketRoute, s int) *ringPipeline {
			l := r.ring(k, s, brings, keeps)
			l.reduces, l.partial, l.ranks = true, k > 0, n
			return l
		})
	}
	if a.Outs == nil {
		c.PipeBarrier()
		move(c, out, part(me))
	}
}

// BucketReduceScatter uses all links of a torus of any number of dimensions.
var BucketReduceScatter = Register(Algorithm{
	Name:       "bucket_reduce_scatter",
	Summary:    "two parts of each block for each level of the machine are added up round its rings in opposite directions, then through the other levels: all links of a torus are busy",
	Collective: "reduce_scatter",
	Topology:   "hierarchical",
	Kernel:     bucketReduceScatter,
	MinSlots:   2,
	Pipelined:  true,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		if nElem < 0 {
			return stagingLayout(world, 1, nElem, t) // which returns the error
		}
		return stagingLayout(world, world, tl.CDiv(nElem, max(1, world)), t)
	},
	Steps:  "N-1: n_k - 1 along each level, for each block of the levels before",
	Cost:   "(N-1) (alpha + (beta + gamma) M/2DN) on a torus of D dimensions: (N-1)/N M bytes per rank",
	Source: "Sack, Gropp, Collective algorithms for multiported torus networks, ACM Trans. Parallel Comput. 1(2), 2015",
})
