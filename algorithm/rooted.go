package algorithm

import (
	"fmt"

	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// rooted numbers the ranks of a call from its root on, so that trees and chains do not depend on
// the root. The root is 0, the rank after it 1, and so on around to the rank before it.
type rooted struct {
	root   int // rank
	number int // of this rank
	n      int // ranks
}

// fromRoot returns the rooted numbers of a call whose root is the first number of the launch.
func fromRoot(c *tl.Context, a tl.Args) rooted {
	root, n := a.Int(0), c.WorldSize()
	if root < 0 || root >= n {
		panic(fmt.Sprintf("root %d of %d ranks: the root is one of 0 to %d", root, n, n-1))
	}
	return rooted{root, (c.Rank() - root + n) % n, n}
}

// rank returns the rank with number i.
func (r rooted) rank(i int) int { return (i + r.root) % r.n }

// below returns the number of ranks in the binomial subtree of number i, itself included. Their
// numbers begin at i.
func (r rooted) below(i int) int {
	up, _ := topology.BinomialStep(i, r.n)
	if up < 0 {
		return r.n
	}
	return min(1<<up, r.n-i)
}

// firstIsRoot returns the numbers of a launch without a root: rank 0.
func firstIsRoot(int, int) []int { return []int{0} }

// run returns n chunks of a vector, of parts in all, from the first on.
func run(v tl.Ref, parts, first, count int) tl.Ref {
	lo, last := mem.ChunkOf(v.Len(), parts, first).Lo, mem.ChunkOf(v.Len(), parts, first+count-1)
	return v.Slice(lo, last.Lo+last.N-lo)
}

// keep copies a contribution to the place of the result, unless it is there already.
func keep(c *tl.Context, dst, src tl.Ref) {
	if dst.Addr != src.Addr {
		move(c, dst, src)
	}
}
