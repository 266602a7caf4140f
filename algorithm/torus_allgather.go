package algorithm

import "kernbench/tl"

// torusAllGather goes by dimension. Vectors go around the rings of the rows. Then the vectors of
// each row, one range of the result, go around the rings of the columns. So it takes as many
// steps as a row and a column have ranks, where a ring of all takes as many as there are.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func torusAllGather(c *tl.Context, a tl.Args) {
	t, n := torusOf(c, a), c.WorldSize()
	out := a.Out(c.Rank(), n*a.NElem)
	keep(c, out.Chunk(n, c.Rank()), a.Shard(c.Rank()))
	gatherRound(t.circle(tl.East, t.inRow(blocksOf(out, n))))
	gatherRound(t.circle(tl.South, func(y int) tl.Ref { return out.Chunk(t.h, y) }))
}

// blocksOf returns the n blocks of a vector.
func blocksOf(v tl.Ref, n int) func(k int) tl.Ref {
	return func(k int) tl.Ref { return v.Chunk(n, k) }
}

// circle returns the ring of a rank's row or column in one direction. It has the part of each place
// in it, counted from west to east or from north to south.
func (t torus) circle(to tl.Dir, part func(k int) tl.Ref) *circle {
	from, _ := to.Opposite()
	r := &circle{c: t.c, to: to, from: from, me: t.x, n: t.w, part: part}
	if to == tl.South || to == tl.North {
		r.me, r.n = t.y, t.h
	}
	if to == tl.West || to == tl.North {
		r.me, r.part = r.n-1-r.me, func(k int) tl.Ref { return part(r.n - 1 - k) }
	}
	return r
}

// inRow returns the blocks that belong to the ranks of the rank's row.
func (t torus) inRow(of func(rank int) tl.Ref) func(x int) tl.Ref {
	return func(x int) tl.Ref { return of(t.y*t.w + x) }
}

// TorusAllGather has a step for each rank of a row and a column, not of the world.
var TorusAllGather = Register(Algorithm{
	Name:       "torus_allgather",
	Summary:    "all-gather along the rings of the rows, then of what the rows have along the rings of the columns",
	Collective: "all_gather",
	Topology:   "torus_2d",
	Kernel:     torusAllGather,
	MinSlots:   2,
	Steps:      "(w-1) + (h-1)",
	Cost:       "(w-1) (alpha + beta M) + (h-1) (alpha + beta w M): (N-1) M bytes per rank",
	Source:     "the bucket algorithm by dimension: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience, Concurrency Computat.: Pract. Exper. 19(13), 2007",
})
