package algorithm

import "kernbench/tl"

// levelOrder is the order of the blocks of all ranks in memory for algorithms that go level by
// level. The place in the innermost group comes first. So the blocks of ranks with the same place
// in their groups, which cross together, are consecutive.
type levelOrder struct {
	widths []int
	start  []int // where the block at a place begins, and where all end
}

// levelOrderOf places blocks of equal length.
func levelOrderOf(widths []int, world int, elems func(rank int) int) levelOrder {
	o := levelOrder{widths: widths, start: make([]int, world+1)}
	sizes := make([]int, world)
	for r := range world {
		sizes[o.place(r, world)] = elems(r)
	}
	for p, n := range sizes {
		o.start[p+1] = o.start[p] + n
	}
	return o
}

// place returns where the block of a rank comes.
func (o levelOrder) place(rank, world int) int {
	p := 0
	for _, w := range o.widths {
		world /= w
		p += rank % w * world
		rank /= w
	}
	return p
}

// blockRange returns count blocks of the memory all, from index first on.
func (o levelOrder) blockRange(all tl.Sym, first, count int) tl.Sym {
	return all.Slice(o.start[first], o.start[first+count]-o.start[first])
}

// block returns the block of a rank.
func (o levelOrder) block(all tl.Sym, rank int) tl.Sym {
	return o.blockRange(all, o.place(rank, len(o.start)-1), 1)
}
