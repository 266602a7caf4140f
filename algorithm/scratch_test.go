package algorithm_test

import (
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

// A PE's scratch memory is enough for each kernel, with many ranks and long vectors, and no memory
// that a kernel still needs is reclaimed. Two algorithms for teaching hold a whole vector and are
// left out.
func TestScratchLasts(t *testing.T) {
	for _, a := range algorithm.All() {
		if a == algorithm.RingAllReduce || a == algorithm.HelloSend || !recordable(t, a) {
			continue // kernels that ask wait for words, which no rank writes here
		}
		for _, n := range []int{1 << 16, 1<<16 + 77, 1 << 22} {
			tryScratch(t, a, scene{world: 256, w: 16, n: n, typ: dtype.F32, scratch: 1 << 20})
		}
	}
}

// A line holds four parts in scratch memory: its own chunk, the other operand, the received part
// and the sum.
func TestScratchOfLines(t *testing.T) {
	const tile, segment = 64 << 10, 128 << 10
	for _, c := range []struct {
		a       *algorithm.Algorithm
		n       int
		scratch unit.Bytes
	}{
		{algorithm.MeshReduceScatter, 256 << 14, 4 * tile},
		{algorithm.MeshReduceScatter, 5 * 256 << 14, 4 * tile},
		{algorithm.MeshAllReduceChunked, 16 << 15, 4 * segment},
		{algorithm.MeshAllReduceChunked, 3 * 16 << 15, 4 * segment},
	} {
		tryScratch(t, c.a, scene{world: 256, w: 16, n: c.n, typ: dtype.F32, scratch: c.scratch})
	}
}

// tryScratch runs the kernels of some ranks, each alone. The slots of rings are short, so that all
// received data needs scratch memory.
func tryScratch(t *testing.T, a *algorithm.Algorithm, s scene) {
	t.Helper()
	s.slots, s.slotBytes, s.place, s.levels = 4, 512, apart, []int{16}
	g, ok := s.group(t, a)
	if !ok {
		return // the algorithm needs equal blocks
	}
	for _, rank := range []int{0, 39, 119, 240} {
		if _, err := tl.DriverOf(tl.NewContext(s.setup(&idle{}, &g, rank))).Run(a.Kernel, g.Args); err != nil {
			t.Errorf("%s of %d elements: %v", a.Name, s.n, err)
			return
		}
	}
}
