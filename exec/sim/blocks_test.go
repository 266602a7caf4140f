package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// TestBlocksAsGrid: the blocks of a rank take the times of as many programs of a grid, which share
// a PE on a stream.
func TestBlocksAsGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	shared := 0
	for i := range 80 {
		const n = 1 << 12
		sets := fmt.Sprintf("pe.dma.queue_depth=%d", []int{1, 2, 64}[i%3])
		count := 2 + rng.IntN(3)
		acts := make([][]int, count)
		for k := range acts {
			for range 1 + rng.IntN(12) {
				acts[k] = append(acts[k], rng.IntN(3)<<16|(1+rng.IntN(n/8)))
			}
		}
		of := func(number func(c *tl.Context) int) tl.Kernel {
			return func(c *tl.Context, _ tl.Args) {
				k := number(c)
				own := mem.Addr(k * n) // bytes: a part of the memory for each
				x := c.Load(tl.Ref{Addr: mem.At(mem.HBM, 0, 0) + own, DType: dtype.F32, Shape: tl.Dims(8)})
				for _, a := range acts[k] {
					switch at, m := mem.At(mem.HBM, 0, 0)+own, a&0xffff; a >> 16 {
					case 0:
						x = c.Load(tl.Ref{Addr: at, DType: dtype.F32, Shape: tl.Dims(m)})
					case 1:
						x = c.Add(x, x)
					case 2:
						c.Store(tl.Ref{Addr: at, DType: dtype.F32, Shape: x.Shape()}, x)
					}
				}
			}
		}
		s := newStreamsOn(t, 1, count*n/4, sets)
		s.add(0, launchOp(of(func(c *tl.Context) int { return c.ProgramID(0) }), count, count))
		grid, err := s.run(t, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		byBlock := of(func(c *tl.Context) int { return tl.DriverOf(c).Block() })
		b := newBench(t, byBlock, setup{world: 1, n: count * n / 4, typ: dtype.F32, sets: []string{sets}})
		var alone []int64
		for k := range count {
			b.launch.Kernel = of(func(*tl.Context) int { return k })
			r, err := sim.New(b.m, sim.Options{}).Launch(t.Context(), b.launch)
			if err != nil {
				t.Fatal(err)
			}
			alone = append(alone, int64(r.Duration()))
		}
		g := &b.launch.Groups[0]
		g.Wiring = make([]tl.Wiring, count)
		for k := range count {
			g.Blocks = append(g.Blocks, launch.Block{Number: k, Of: count})
		}
		b.launch.Kernel = byBlock
		r, err := sim.New(b.m, sim.Options{}).Launch(t.Context(), b.launch)
		if err != nil {
			t.Fatal(err)
		}
		if r.Duration() != grid.Duration() {
			t.Errorf("blocks %v, a grid %v: %v", r.Duration(), grid.Duration(), acts)
		}
		if int64(r.Duration()) > slices.Max(alone) {
			shared++
		}
	}
	if shared == 0 {
		t.Error("no block waited for another: the engines of the PE are not shared")
	}
}
