package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// hierarchicalDirectAllReduce is hierarchicalAllReduce without rings. At each level a rank reads
// its part from the copies of all other ranks of its group, without a wait between the reads. At
// the end it reads the parts of the others. So a level of any size takes two barriers; a ring takes
// one for each rank.
//
// No rank changes what another still reads. On the way up a rank writes only its own part. On the
// way back no rank begins before all ranks of its group have arrived.
func hierarchicalDirectAllReduce(c *tl.Context, a tl.Args) {
	data, signals := scratch(c, a, a.NElem)
	move(c, c.Local(data), a.Shard(c.Rank()))
	teams := levelTeams(c, a, signals, func(first, count int) tl.Sym {
		lo, last := mem.ChunkOf(a.NElem, c.WorldSize(), first).Lo, mem.ChunkOf(a.NElem, c.WorldSize(), first+count-1)
		return data.Slice(lo, last.Lo+last.N-lo)
	})
	for i, g := range teams {
		g.barrier(g.up)
		g.reduce(a.Op, i == len(teams)-1)
	}
	for i := range teams {
		g := teams[len(teams)-1-i]
		g.barrier(g.back)
		g.gather()
	}
	move(c, a.Out(c.Rank(), a.NElem), c.Local(data))
}

// levelTeams returns the groups of this rank, innermost first: one for each level with more than
// one member. The data has one chunk per rank, and blockRange returns a range of count chunks. A
// level divides the chunks for which this rank is responsible after the level below.
func levelTeams(c *tl.Context, a tl.Args, signals tl.Signal, blockRange func(first, count int) tl.Sym) []levelTeam {
	var teams []levelTeam
	me, use := c.Rank(), a.Use(0)
	first, count, stride, word := 0, c.WorldSize(), 1, 0
	for _, n := range levelWidths(c, a) {
		if n == 1 {
			continue
		}
		place, lo, each := me/stride%n, first, count/n
		teams = append(teams, levelTeam{
			c: c, first: me - place*stride, stride: stride, n: n, me: place,
			chunk: func(i int) tl.Sym { return blockRange(lo+i*each, each) },
			up:    row(c, signals, 0).At(word), back: row(c, signals, 1).At(word), use: use,
		})
		first, count, stride, word = lo+place*each, each, stride*n, word+n
	}
	return teams
}

// levelTeam is a group of ranks at one level. Their numbers are stride apart.
type levelTeam struct {
	c                    *tl.Context
	first, stride, n, me int
	chunk                func(i int) tl.Sym // chunk of member i
	up, back             tl.Signal          // member i notifies word i
	use                  int
}

// others yields the other members, the next one first, so that not all read from one at once.
func (g levelTeam) others(yield func(i, rank int) bool) {
	for k := 1; k < g.n; k++ {
		if i := (g.me + k) % g.n; !yield(i, g.first+i*g.stride) {
			return
		}
	}
}

// barrier is a barrier of the group. The earlier stores of all members are visible after it.
func (g levelTeam) barrier(words tl.Signal) {
	g.c.PipeBarrier()
	for _, rank := range g.others {
		notify(g.c, words.At(g.me), rank)
	}
	for i := range g.others {
		awaitWord(g.c, words.At(i), g.use)
	}
}

// read reads the range of(i) of each other member i, a piece in each turn, and calls use for each
// turn. Reads start as many turns ahead as scratch memory can hold.
func (g levelTeam) read(of func(i int) tl.Sym, use func(piece func(i int) tl.Sym, came []tl.Tensor)) {
	most := 0
	for i := range g.n {
		most = max(most, g.chunk(i).Len())
	}
	per := max(1, 4*tileBytes/g.n/g.chunk(0).DType().Size())
	turns := tl.CDiv(most, per)
	ahead := max(1, min(turns, loadsAhead/g.n, int(g.c.ScratchBytes()/(32*tileBytes)))) // a turn loads 4 tiles and has sums
	came := make([][]tl.Tensor, ahead)
	pieces := func(turn int) func(i int) tl.Sym {
		return func(i int) tl.Sym {
			s, lo := of(i), turn*per
			return s.Slice(min(lo, s.Len()), min(per, max(0, s.Len()-lo)))
		}
	}
	started := 0
	for turn := range turns {
		for ; started < min(turns, turn+ahead); started++ {
			piece, at := pieces(started), started%ahead
			if came[at] == nil {
				came[at] = make([]tl.Tensor, g.n)
			}
			for i, rank := range g.others {
				came[at][i] = g.c.Load(g.c.At(piece(i), rank))
			}
		}
		use(pieces(turn), came[turn%ahead])
		for i := range g.others {
			g.c.Free(came[turn%ahead][i])
		}
	}
}

// reduce adds the other members' copies of this rank's chunk to it. At the last level it also
// finishes the reduction.
func (g levelTeam) reduce(op tl.ReduceOp, last bool) {
	own := func(int) tl.Sym { return g.chunk(g.me) }
	g.read(own, func(piece func(i int) tl.Sym, came []tl.Tensor) {
		here := g.c.Local(piece(g.me))
		acc := g.c.Load(here)
		for i := range g.others {
			acc = g.c.Combine(op, acc, came[i])
		}
		if last {
			acc = g.c.Finish(op, acc, g.c.WorldSize())
		}
		g.c.Store(here, acc)
	})
}

// gather copies the chunks of the other members to this rank.
func (g levelTeam) gather() {
	g.read(g.chunk, func(piece func(i int) tl.Sym, came []tl.Tensor) {
		for i := range g.others {
			g.c.Store(g.c.Local(piece(i)), came[i])
		}
	})
}

// HierarchicalDirectAllReduce has a fixed number of barriers for each level.
var HierarchicalDirectAllReduce = Register(Algorithm{
	Name:       "hierarchical_direct_allreduce",
	Summary:    "reduce-scatter in the cube, all-reduce of each PE's part across cubes, all-gather in the cube, by reads of a symmetric window",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     hierarchicalDirectAllReduce,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 2, meshRow(world)) // all levels together have no more members than ranks
	},
	Steps:  "2 barriers, 2(L-1) and 2(N/L-1) reads for each of two levels, with cubes of L",
	Cost:   "4 alpha + 2(L-1) (alpha + beta M/L) + 2(N/L-1) (alpha + beta M/N): 2(N-1)/N M bytes per rank, of which less than 2M/L leave a cube",
	Source: "reduce-scatter inside, all-reduce across, all-gather inside: Cho, Finkler, Serrano, Kung, Hunter, BlueConnect, MLSys 2019; the two phases of each level: window_allreduce_twophase",
})
