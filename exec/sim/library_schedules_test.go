package sim_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/topology"
)

// TestSchedules: where messages do not meet, algorithms take as long as their published schedules.
// For some numbers of ranks two messages reach one rank at the same time, such as those of two
// children of a tree. They are left out.
func TestSchedules(t *testing.T) {
	squares := []int{4, 9, 16}
	torus := func(ranks int) []string { return uniformGrid(side(ranks), "torus") }
	mesh := func(ranks int) []string { return uniformGrid(side(ranks), "mesh") }
	for _, tt := range []struct {
		a     *algorithm.Algorithm
		ranks []int
		n     int // elements for each rank
		sets  func(ranks int) []string
		plan  func(p *plan, n int)
	}{
		{algorithm.SwingAllReduce, []int{2, 4, 8, 16}, 64, alike, swingPlan},
		{algorithm.DoubleTreeAllReduce, []int{2, 3, 4, 5}, 64, alike, doubleTreePlan},
		{algorithm.DoubleTreeBroadcast, []int{2, 3, 4, 5, 8}, 64, alike, doubleTreeDownPlan},
		{algorithm.DoubleTreeReduce, []int{2, 3, 4, 5, 8, 16}, 64, alike, doubleTreeUpPlan},
		{algorithm.TreeAllReduce, []int{2, 4, 8, 16}, 64, alike, treePlan},
		{algorithm.MeshAllReduce, squares, 32, mesh, cornerPlan},
		{algorithm.TorusReduceScatter, squares, 36, torus, torusReducePlan},
		{algorithm.TorusAllGather, squares, 12, torus, torusGatherPlan},
		{algorithm.MultiRingAllGather, squares, 12, torus, multiRingGatherPlan},
		{algorithm.MultiRingReduceScatter, squares, 36, torus, multiRingReducePlan},
		{algorithm.MeshReduceScatter, squares, 36, mesh, meshReducePlan},
		{algorithm.MeshAllGather, []int{4}, 12, mesh, meshGatherPlan},
		{algorithm.MultiRingAllReduce, squares, 36, torus, multiRingPlan},
	} {
		for _, ranks := range tt.ranks {
			t.Run(fmt.Sprintf("%s/%d", tt.a.Name, ranks), func(t *testing.T) {
				n := tt.n * ranks
				s := setup{world: ranks, n: n, sets: tt.sets(ranks), slots: 32}
				if tt.a.Pipelined {
					s.chunk = int64(2 * n / 4) // half of a half
				}
				b := libraryBench(t, tt.a, s)
				c := termsOf(b)
				p := newPlan(&c, ranks)
				tt.plan(p, n)
				want := p.length(t)
				res, err := b.run(sim.Options{})
				if err != nil || res.Duration() != want {
					t.Errorf("took %v, %v; the schedule takes %v", res.Duration(), err, want)
				}
			})
		}
	}
}

func side(ranks int) int {
	for s := 1; ; s++ {
		if s*s == ranks {
			return s
		}
	}
}

// swingPlan is two reduce-scatters and all-gathers on halves of the vector. In step s rank r meets
// the one at distance 1, -1, 3, -5, … = (1-(-2)^(s+1))/3, odd ranks in reverse. The second half has
// all distances mirrored.
func swingPlan(p *plan, n int) {
	ranks := len(p.ranks)
	_, dims := topology.Fold(ranks)
	peer := func(r, s, tag int) int {
		rho := 1
		for range s + 1 {
			rho *= -2
		}
		rho = (1 - rho) / 3
		if r%2 != tag {
			rho = -rho
		}
		return ((r+rho)%ranks + ranks) % ranks
	}
	for r, at := range p.ranks {
		whole := at.load(n)
		halves := []*part{at.half(whole), at.half(whole)}
		for s := range dims {
			for tag := range halves {
				halves[tag] = at.half(halves[tag])
				at.send(peer(r, s, tag), tag, halves[tag])
			}
			for tag := range halves {
				halves[tag] = at.add(halves[tag], at.recv(peer(r, s, tag), tag, halves[tag].n))
			}
		}
		for _, h := range halves {
			at.store(h)
		}
		for s := dims - 1; s >= 0; s-- {
			for tag, h := range halves {
				at.send(peer(r, s, tag), tag, h)
			}
			for tag, h := range halves {
				at.store(at.recv(peer(r, s, tag), tag, h.n))
				if s > 0 {
					halves[tag] = at.load(2 * h.n)
				}
			}
		}
	}
}

// inTree is the place of a rank in one of two trees.
type inTree struct {
	parent   int
	children []int
	depth    int
}

func inTwoTrees(step func(rank, tree int) (int, [2]int), rank, tree int) inTree {
	up, below := step(rank, tree)
	at := inTree{parent: up}
	for _, child := range below {
		if child >= 0 {
			at.children = append(at.children, child)
		}
	}
	for ; up >= 0; at.depth++ {
		up, _ = step(up, tree)
	}
	return at
}

// doubleTreePlan passes two chunks of each half up its tree, and down again, a level in each round.
func doubleTreePlan(p *plan, n int) {
	ranks := len(p.ranks)
	const chunks = 2
	height := 0
	for 1<<height <= ranks {
		height++
	}
	for r, at := range p.ranks {
		reduced := [2]*part{}
		for round := range chunks + 2*height {
			for tree := range 2 {
				k := inTwoTrees(func(rank, tree int) (int, [2]int) { return topology.TwoTreeStep(rank, ranks, tree) }, r, tree)
				if i := round - height + k.depth; i < 0 || i >= chunks {
					continue
				}
				sum := at.load(n / 2 / chunks)
				for _, child := range k.children {
					sum = at.add(sum, at.recv(child, tree, sum.n))
				}
				if reduced[tree] = sum; k.parent >= 0 {
					at.send(k.parent, tree, sum)
				}
			}
			for tree := range 2 {
				k := inTwoTrees(func(rank, tree int) (int, [2]int) { return topology.TwoTreeStep(rank, ranks, tree) }, r, tree)
				if i := round - height - k.depth; i < 0 || i >= chunks {
					continue
				}
				result := reduced[tree]
				if k.parent >= 0 {
					result = at.recv(k.parent, 2+tree, n/2/chunks)
				}
				for _, child := range k.children {
					at.send(child, 2+tree, result)
				}
				at.store(result)
			}
		}
	}
}

// doubleTreeDownPlan passes two chunks of each half down its tree, from the root, rank 0, on.
func doubleTreeDownPlan(p *plan, n int) {
	ranks := len(p.ranks)
	const chunks = 2
	for r, at := range p.ranks {
		for round := range chunks + ranks {
			for tree := range 2 {
				k := inTwoTrees(func(rank, tree int) (int, [2]int) { return topology.TwoTreesUnderStep(rank, ranks, tree) }, r, tree)
				if i := round - k.depth; i < 0 || i >= chunks {
					continue
				}
				var v *part
				if k.parent < 0 {
					v = at.load(n / 2 / chunks)
				} else {
					v = at.recv(k.parent, tree, n/2/chunks)
				}
				for _, child := range k.children {
					at.send(child, tree, v)
				}
				if k.parent >= 0 {
					at.store(v)
				}
			}
		}
	}
}

// doubleTreeUpPlan is the same backwards, with a level for each round up to the root.
func doubleTreeUpPlan(p *plan, n int) {
	ranks := len(p.ranks)
	const chunks = 2
	for r, at := range p.ranks {
		for round := range chunks + ranks {
			for tree := range 2 {
				k := inTwoTrees(func(rank, tree int) (int, [2]int) { return topology.TwoTreesUnderStep(rank, ranks, tree) }, r, tree)
				if i := round - topology.Hops(ranks) - 1 + k.depth; i < 0 || i >= chunks {
					continue
				}
				sum := at.load(n / 2 / chunks)
				for _, child := range k.children {
					sum = at.add(sum, at.recv(child, tree, sum.n))
				}
				if k.parent >= 0 {
					at.send(k.parent, tree, sum)
				} else {
					at.store(sum)
				}
			}
		}
	}
}

// treePlan is a heap's tree: the children of rank r are 2r+1 and 2r+2.
func treePlan(p *plan, n int) {
	for r, at := range p.ranks {
		sum := at.load(n)
		children := func(do func(child int)) {
			for child := 2*r + 1; child <= 2*r+2 && child < len(p.ranks); child++ {
				do(child)
			}
		}
		children(func(child int) { sum = at.add(sum, at.recv(child, 0, n)) })
		if r > 0 {
			at.send((r-1)/2, 0, sum)
			sum = at.recv((r-1)/2, 0, n)
		}
		children(func(child int) { at.send(child, 0, sum) })
		at.store(sum)
	}
}

// cornerPlan reduces rows to the west, the west column to the north, and goes back.
func cornerPlan(p *plan, n int) {
	w := side(len(p.ranks))
	for r, at := range p.ranks {
		x, y := r%w, r/w
		acc := at.load(n)
		if x+1 < w {
			acc = at.add(acc, at.recv(r+1, 0, n))
		}
		if x > 0 {
			at.send(r-1, 0, acc)
			acc = at.recv(r-1, 0, n)
		} else {
			if y+1 < w {
				acc = at.add(acc, at.recv(r+w, 0, n))
			}
			if y > 0 {
				at.send(r-w, 0, acc)
				acc = at.recv(r-w, 0, n)
			}
			if y+1 < w {
				at.send(r+w, 0, acc)
			}
		}
		if x+1 < w {
			at.send(r+1, 0, acc)
		}
		at.store(acc)
	}
}

// torusReducePlan takes parts round the columns, southwards, and then chunks round the rows,
// eastwards. Columns leave what they have in memory.
func torusReducePlan(p *plan, n int) {
	ranks := len(p.ranks)
	w := side(ranks)
	for r, at := range p.ranks {
		x, y := r%w, r/w
		round := func(n, to, from int) {
			hand := at.load(n)
			for range w - 1 {
				own := at.load(n)
				at.send(to, n, hand)
				hand = at.add(own, at.recv(from, n, n))
			}
			at.store(hand)
		}
		round(n/w, (y+1)%w*w+x, (y+w-1)%w*w+x)
		round(n/ranks, y*w+(x+1)%w, y*w+(x+w-1)%w)
	}
}

// multiRingPlan does what a torus does on a quarter of the vector in each of four directions: all
// send before any receives.
func multiRingPlan(p *plan, n int) {
	ranks := len(p.ranks)
	w := side(ranks)
	for r, at := range p.ranks {
		to := fourWays(r, w)
		quarters := make([]*part, 4)
		reduce := func(direction func(q int) int, own func(q int) *part) {
			for q := range quarters {
				quarters[q] = own(q)
			}
			for range w - 1 {
				brings := make([]*part, 4)
				for q := range quarters {
					brings[q] = own(q)
					at.send(to[direction(q)], direction(q), quarters[q])
				}
				for q := range quarters {
					quarters[q] = at.add(brings[q], at.recv(to[direction(q)^1], direction(q), quarters[q].n))
				}
			}
		}
		gather := func(direction func(q int) int) {
			for range w - 1 {
				for q := range quarters {
					at.send(to[direction(q)], direction(q), quarters[q])
				}
				for q := range quarters {
					quarters[q] = at.recv(to[direction(q)^1], direction(q), quarters[q].n)
					at.store(quarters[q])
				}
			}
		}
		first, second := func(q int) int { return q }, func(q int) int { return q ^ 2 }
		reduce(first, func(int) *part { return at.load(n / 4 / w) })
		inHand := append([]*part(nil), quarters...)
		reduce(second, func(q int) *part { return at.piece(inHand[q], w) })
		for _, q := range quarters {
			at.store(q)
		}
		gather(second)
		for q := range quarters {
			quarters[q] = at.load(n / 4 / w)
		}
		gather(first)
	}
}

// torusGatherPlan goes round rows and then, with all of a row, round columns. Rank 0 has its vector
// where it belongs, in the place of its result.
func torusGatherPlan(p *plan, n int) {
	w := side(len(p.ranks))
	for r, at := range p.ranks {
		x, y := r%w, r/w
		if r > 0 {
			at.copy(n)
		}
		round := func(n, to, from int) {
			hand := at.load(n)
			for range w - 1 {
				at.send(to, n, hand)
				hand = at.recv(from, n, n)
				at.store(hand)
			}
		}
		round(n, y*w+(x+1)%w, y*w+(x+w-1)%w)
		round(w*n, (y+1)%w*w+x, (y+w-1)%w*w+x)
	}
}

// fourWays returns the neighbours of a rank in the east, west, south and north of a torus.
func fourWays(r, w int) []int {
	x, y := r%w, r/w
	return []int{y*w + (x+1)%w, y*w + (x+w-1)%w, (y+1)%w*w + x, (y+w-1)%w*w + x}
}

// multiRingGatherPlan sends a quarter round in each direction, first of the own vector, then of
// each of those of the row, or of the column.
func multiRingGatherPlan(p *plan, n int) {
	w := side(len(p.ranks))
	for r, at := range p.ranks {
		if r > 0 {
			at.copy(n)
		}
		to := fourWays(r, w)
		round := func(turned int) {
			hand := make([]*part, 4)
			for q := range hand {
				hand[q] = at.load(n / 4)
			}
			for range w - 1 {
				for q := range hand {
					at.send(to[q^turned], q^turned, hand[q])
				}
				for q := range hand {
					hand[q] = at.recv(to[q^turned^1], q^turned, n/4)
					at.store(hand[q])
				}
			}
		}
		round(0)
		for range w {
			round(2)
		}
	}
}

// multiRingReducePlan is the same backwards, with what comes added to what is loaded before.
func multiRingReducePlan(p *plan, n int) {
	ranks := len(p.ranks)
	w := side(ranks)
	for r, at := range p.ranks {
		to := fourWays(r, w)
		round := func(turned int) {
			hand, brings := make([]*part, 4), make([]*part, 4)
			for q := range hand {
				hand[q] = at.load(n / ranks / 4)
			}
			for range w - 1 {
				for q := range hand {
					brings[q] = at.load(n / ranks / 4)
					at.send(to[q^turned], q^turned, hand[q])
				}
				for q := range hand {
					hand[q] = at.add(brings[q], at.recv(to[q^turned^1], q^turned, n/ranks/4))
				}
			}
			for q := range hand {
				at.store(hand[q])
			}
		}
		for range w {
			round(2)
		}
		round(0)
	}
}

// meshReducePlan lets the parts of a column, and then of a row, come together from both ends, those
// with the longest path first.
func meshReducePlan(p *plan, n int) {
	ranks := len(p.ranks)
	w := side(ranks)
	for r, at := range p.ranks {
		line := func(me, n, stride, tag int) {
			own := at.load(n)
			pass := func(k, to, from int, beyond, comes bool) {
				switch {
				case k == me && comes:
					own = at.add(own, at.recv(r+from*stride, tag+to, n))
				case beyond:
					sum := at.load(n)
					if comes {
						sum = at.add(sum, at.recv(r+from*stride, tag+to, n))
					}
					at.send(r+to*stride, tag+to, sum)
				}
			}
			for step := range w - 1 {
				pass(w-1-step, 1, -1, w-1-step > me, me > 0)
				pass(step, -1, 1, step < me, me < w-1)
			}
			at.store(own)
		}
		line(r/w, n/w, w, 10)
		line(r%w, n/ranks, 1, 20)
	}
}

// meshGatherPlan sends the own part both ways, and hands on what comes, in a row and then in a
// column.
func meshGatherPlan(p *plan, n int) {
	w := side(len(p.ranks))
	for r, at := range p.ranks {
		if r > 0 {
			at.copy(n)
		}
		line := func(me, n, stride, tag int) {
			ahead := at.load(n)
			back := ahead
			take := func(from int) *part {
				x := at.recv(r+from*stride, tag-from, n)
				at.store(x)
				return x
			}
			for step := range w - 1 {
				if me < w-1 && step <= me {
					at.send(r+stride, tag+1, ahead)
				}
				if me > 0 && step <= w-1-me {
					at.send(r-stride, tag-1, back)
				}
				if step < me {
					ahead = take(-1)
				}
				if step < w-1-me {
					back = take(1)
				}
			}
		}
		line(r%w, n, 1, 10)
		line(r/w, w*n, w, 20)
	}
}
