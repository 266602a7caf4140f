package algorithm

import (
	"fmt"
	"math/bits"
	"slices"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// hierarchicalAllReduce follows the levels of the machine. First comes a reduce-scatter on a ring
// of the PEs of a cube, after which each has a part of the cube's sum. Then the PEs that hold the
// same part, one of each cube, all-reduce it on a ring. An all-gather in the cube follows. So all
// PEs work all the time, and all PEs of a cube send to other cubes at once, each its own part.
// Between the levels a rank waits for its neighbours only.
//
// There may be other levels. The numbers of the launch are the sizes of levels, the innermost
// first: 8, 16 means cubes of 8 PEs and packages of 16 cubes. The outermost level has the remaining
// factor. Without numbers the levels are those of the machine (Args.Levels): its cubes, packages,
// hosts, rows of a torus. If neither is known, there are two levels. The inner size is then the
// greatest common divisor of the PEs per cube and the number of ranks.
//
// Rings use puts in both directions, as in windowAllReduceBidirectionalRing. A level begins when
// both neighbours have reached it. So no put overwrites data that they still combine in the level
// before.
func hierarchicalAllReduce(c *tl.Context, a tl.Args) {
	whole := ofVector(c, a)
	rings := levelRings(whole, levelWidths(c, a))
	for _, r := range rings {
		r.reduceByPuts()
	}
	for i := range rings {
		rings[len(rings)-1-i].gatherByPuts()
	}
	whole.finish(a.Out(whole.me, a.NElem), whole.data)
}

// levelWidths returns the sizes of the levels.
func levelWidths(c *tl.Context, a tl.Args) []int {
	return widthsOf(c, innerLevels(a))
}

// innerLevels returns the sizes of the levels below the outermost one. Ints take the place of those
// of the machine.
func innerLevels(a tl.Args) []int {
	if len(a.Ints) > 0 {
		return a.Ints
	}
	return a.Levels
}

// widthsOf returns the sizes of the levels, with that of the outermost level at the end. Without
// levels a cube is the inner level.
func widthsOf(c *tl.Context, levels []int) []int {
	return widthsIn(c.WorldSize(), levels, c.NumPrograms(0))
}

// widthsIn is widthsOf for a number of ranks, of which perCube share a cube.
func widthsIn(world int, levels []int, perCube int) []int {
	widths, rest := slices.Clone(levels), world
	if len(widths) == 0 {
		widths = []int{gcd(perCube, rest)}
	}
	for _, w := range widths {
		if w < 1 || rest%w != 0 {
			panic(fmt.Sprintf("levels %v: each must be at least 1, and their product must divide %d ranks", widths, world))
		}
		rest /= w
	}
	return append(widths, rest)
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// levelRings returns the rings of this rank, one for each level of more than one member. Each works
// on the chunk that this rank reduced in the level below. Each ring has one row of signals for all
// its rounds. A row for each round would take more memory than the data on a large machine.
func levelRings(whole *ring, widths []int) []*ring {
	var rings []*ring
	part, stride := whole.data, 1
	for _, n := range widths {
		if n == 1 {
			continue
		}
		parent := part
		level := len(rings)
		r := &ring{c: whole.c, a: whole.a, me: whole.me / stride % n, n: n, signals: whole.signals.At(level * ringRow), counted: 1 + level}
		first := whole.me - r.me*stride
		r.left, r.right = first+(r.me+n-1)%n*stride, first+(r.me+1)%n*stride
		r.chunk = func(k int) tl.Sym { return parent.Chunk(n, (k+2*n)%n) }
		rings = append(rings, r)
		part, stride = r.chunk(r.me), stride*n
	}
	return rings
}

// HierarchicalAllReduce uses all links between cubes at once.
var HierarchicalAllReduce = Register(Algorithm{
	Name:       "hierarchical_allreduce",
	Summary:    "reduce-scatter in the cube, all-reduce of each PE's part across cubes, all-gather in the cube, on rings by puts into a symmetric window",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     hierarchicalAllReduce,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, bits.Len(uint(world)), ringRow) // a row for each level: each has 2 members or more
	},
	Steps:  "2(L-1) + 2(N/L-1) pairs of puts for cubes of L PEs, and a barrier of neighbours with each pair and before each level",
	Cost:   "2(L-1) (2 alpha + beta M/(2L)) + 2(N/L-1) (2 alpha + beta M/(2N)): 2(N-1)/N M bytes per rank, of which less than 2M/L leave a cube",
	Source: "reduce-scatter inside, all-reduce across, all-gather inside: Cho, Finkler, Serrano, Kung, Hunter, BlueConnect: decomposing all-reduce for deep learning on heterogeneous network hierarchy, MLSys 2019",
})
