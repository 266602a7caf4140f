package algorithm

import (
	"cmp"
	"slices"

	"kernbench/tl"
	"kernbench/topology"
)

// bucketAllReduce keeps all links of a torus of any number of dimensions busy. The vector has two
// parts for each dimension. Each part passes the dimensions in turn: a reduce-scatter along each,
// an all-reduce along the last, and all-gathers back to the first. Two parts share a dimension only
// in opposite directions, because each pair begins with a dimension of its own.
//
// A rank sends while it still holds the slot that it received into, so n_slots must be at least 2.
func bucketAllReduce(c *tl.Context, a tl.Args) {
	dims := levelCircles(c, &a)
	allReduceByLevels(c, &a, dims, bucketParts(&a, dims))
}

// bucketParts returns the parts with their orders of dimensions.
func bucketParts(_ *tl.Args, dims []levelCircle) []*bucketPart {
	parts := make([]*bucketPart, 2*len(dims))
	for i := range parts {
		parts[i] = &bucketPart{first: i / 2, west: i%2 == 1, dims: dims}
	}
	return parts
}

// allReduceByLevels takes parts of the vector through all levels and back.
func allReduceByLevels(c *tl.Context, a *tl.Args, dims []levelCircle, parts []*bucketPart) {
	mine, out := a.Shard(c.Rank()), a.Out(c.Rank(), a.NElem)
	if len(dims) == 0 {
		move(c, out, mine)
		return
	}
	for i, p := range parts {
		p.from, p.block, p.most = mine.Chunk(len(parts), i), out.Chunk(len(parts), i), tl.CDiv(a.NElem, len(parts))
	}
	for k := range dims {
		bucketRound(c, a, parts, func(p *bucketPart) *ringPipeline { return p.reduce(k, k == len(dims)-1, c.WorldSize()) })
	}
	for k := len(dims) - 2; k >= 0; k-- {
		bucketRound(c, a, parts, func(p *bucketPart) *ringPipeline { return p.gather(k) })
	}
}

// bucketRound takes all parts through one of their dimensions.
func bucketRound(c *tl.Context, a *tl.Args, parts []*bucketPart, next func(p *bucketPart) *ringPipeline) {
	var pipelines []*ringPipeline
	longest := 0
	for _, p := range parts {
		if l := next(p); l != nil {
			pipelines = append(pipelines, l)
			longest = max(longest, p.chunk)
		}
	}
	slices.SortStableFunc(pipelines, func(a, b *ringPipeline) int { return cmp.Compare(b.steps(), a.steps()) })
	goRound(c, a.Op, piecesOf(c, a, longest, len(pipelines)), pipelines...)
}

// levelCircle is a rank's place in the ring of a level.
type levelCircle struct{ level, me, n int }

// levelCircles returns the rings of a rank, by level.
func levelCircles(c *tl.Context, a *tl.Args) []levelCircle {
	var all []levelCircle
	for k, n := range topology.LevelsOf(c.WorldSize(), a.Levels) {
		all = append(all, levelCircle{level: k, n: n})
	}
	setPositions(all, c.Rank())
	return all
}

// setPositions sets the position of a rank in the rings of all levels.
func setPositions(dims []levelCircle, rank int) {
	for k := range dims {
		dims[k].me = rank % dims[k].n
		rank /= dims[k].n
	}
}

// bucketPart is a part of the vector that goes through the dimensions, from the first on.
type bucketPart struct {
	from, block tl.Ref   // what the rank brings to the dimension at hand, and where the result of that goes
	outer       []tl.Ref // the blocks of the dimensions before
	most, chunk int      // bounds of a block and of its chunks, the same on all ranks
	mosts       []int
	first       int
	west        bool
	back        bool // the way back goes in the opposite direction, and from the last level on
	dims        []levelCircle
	stage       int // of a pipeline: number of rounds before it
}

// pipeline returns the ring of the part in its dimension k.
func (p *bucketPart) pipeline(k int) *ringPipeline {
	d := p.circle(k)
	l := &ringPipeline{to: topology.LevelEast(d.level), from: topology.LevelWest(d.level), me: d.me, n: d.n}
	if p.west {
		l.to, l.from = l.from, l.to
	}
	return l
}

// circle returns the same, with the place counted in the direction of the part.
func (p *bucketPart) circle(k int) levelCircle {
	d := p.dims[(p.first+k)%len(p.dims)]
	if p.west {
		d.me = d.n - 1 - d.me
	}
	return d
}

func (p *bucketPart) reduce(k int, last bool, world int) *ringPipeline {
	l := p.pipeline(k)
	from, block := p.from, p.block
	l.reduces, l.gathers, l.partial, l.ranks = true, last, !last, world
	l.brings, l.keeps = from.Split(l.n).Chunk, block.Split(l.n).Chunk
	p.chunk = tl.CDiv(p.most, l.n)
	if !last || p.back {
		p.outer, p.mosts = append(p.outer, block), append(p.mosts, p.chunk)
		p.most = p.chunk
		p.block = block.Chunk(l.n, (l.me+1)%l.n)
		p.from = p.block
	}
	return l
}

func (p *bucketPart) gather(k int) *ringPipeline {
	l := p.pipeline(k)
	block := p.outer[k]
	l.gathers = true
	chunks := block.Split(l.n)
	l.brings = chunks.Chunk
	if p.back {
		l.to, l.from, l.me = l.from, l.to, l.n-1-l.me
		l.brings = func(i int) tl.Ref { return chunks.Chunk((l.n + 1 - i) % l.n) }
	}
	l.keeps = l.brings
	p.chunk = p.mosts[k]
	return l
}

// BucketAllReduce uses all links of a torus of any number of dimensions.
var BucketAllReduce = Register(Algorithm{
	Name:       "bucket_allreduce",
	Summary:    "two parts of the vector for each level of the machine go round its rings in opposite directions, then through the other levels: all links of a torus are busy",
	Collective: "all_reduce",
	Topology:   "hierarchical",
	Kernel:     bucketAllReduce,
	MinSlots:   2,
	Pipelined:  true,
	Steps:      "2 sum(n_k - 1) over the levels",
	Cost:       "2 sum(n_k - 1) alpha + 2(N-1)/N beta M/2D on a torus of D dimensions: 2(N-1)/N M bytes per rank",
	Source:     "Sack, Gropp, Collective algorithms for multiported torus networks, ACM Trans. Parallel Comput. 1(2), 2015; Jain, Sabharwal, ICS 2010",
})
