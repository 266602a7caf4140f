package algorithm

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// Some kernels that send along a topology's directions put messages together in memory, or
// receive there what they hand on. That memory is a window of which each rank uses its own copy
// only, so that no notification is needed: rings have their credits.

// stagingLayout declares a window of a number of blocks, each of n elements.
func stagingLayout(world, blocks, n int, t dtype.Type) (*mem.Layout, error) {
	if world < 1 || n < 0 || !t.Valid() {
		return nil, fmt.Errorf("a window for %d ranks with blocks of %d elements of %v: at least one rank, no negative number, and a type",
			world, n, t)
	}
	if n > mem.MaxOffset/max(1, blocks) {
		return nil, fmt.Errorf("%d blocks of %d elements: more than a memory can address", blocks, n)
	}
	return mem.NewLayout(0, []mem.Buffer{{Name: "scratch", Parts: []mem.Part{mem.DataPart("data", t, max(1, blocks*n))}}})
}

// staging returns the first n elements of this rank's copy of such a window.
func staging(c *tl.Context, a tl.Args, n int) tl.Ref {
	return c.Local(c.Data(a.Window(0), "scratch.data").As(a.DType).Slice(0, n))
}

// vectorsWindow returns a window that holds the vector of each rank.
func vectorsWindow(world, nElem int, t dtype.Type) (*mem.Layout, error) {
	return stagingLayout(world, world, nElem, t)
}
