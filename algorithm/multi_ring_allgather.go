package algorithm

import "kernbench/tl"

// multiRingAllGather keeps all four directions of a torus busy: a quarter of each vector goes round
// each. Two quarters go along the rows first, one in each direction, and then, one vector of the
// row after the other, along the columns. The other two go along the columns first.
//
// n_slots must be at least 2, as a rank sends on while it holds the slot that it received into.
func multiRingAllGather(c *tl.Context, a tl.Args) {
	t, n := torusOf(c, a), c.WorldSize()
	out := a.Out(c.Rank(), n*a.NElem)
	keep(c, out.Chunk(n, c.Rank()), a.Shard(c.Rank()))
	at := func(q, x, y int) tl.Ref { return out.Chunk(n, y*t.w+x).Chunk(4, q) }
	gatherRound(t.quarters(at, t.y, t.x, tl.East, tl.West, tl.South, tl.North)...)
	for i := range max(t.w, t.h) {
		gatherRound(t.quarters(at, i, i, tl.South, tl.North, tl.East, tl.West)...)
	}
}

// quarters are four rings side by side, one for each quarter of what lies at each place of the
// torus. Those along the rank's row are of the places in a row, those along the rank's column of
// the places in a column. There may be no such row, or column: then these rings are left out.
func (t torus) quarters(at func(q, x, y int) tl.Ref, row, column int, to ...tl.Dir) []*circle {
	var rs []*circle
	add := func(q int, d tl.Dir, part func(i int) tl.Ref) {
		r := t.circle(d, part)
		r.quarter = q
		rs = append(rs, r)
	}
	for q, d := range to {
		switch along := d == tl.East || d == tl.West; {
		case along && row < t.h:
			add(q, d, func(x int) tl.Ref { return at(q, x, row) })
		case !along && column < t.w:
			add(q, d, func(y int) tl.Ref { return at(q, column, y) })
		}
	}
	return rs
}

// MultiRingAllGather uses all links of a torus, in both directions.
var MultiRingAllGather = Register(Algorithm{
	Name:       "multi_ring_allgather",
	Summary:    "four quarters of the vectors at once, each along rows and columns of a torus in a direction of its own: for long vectors",
	Collective: "all_gather",
	Topology:   "torus_2d",
	Kernel:     multiRingAllGather,
	MinSlots:   2,
	Steps:      "s-1 + (s-1) s on a torus of s by s: N-1, as one vector of a row goes along the columns after the other",
	Cost:       "(N-1) (alpha + beta M/4): (N-1) M bytes per rank",
	Source:     "Jain, Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, ICS 2010",
})
