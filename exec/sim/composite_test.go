package sim_test

import (
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// TestCompositeBoundByDMA: tiles of the operand and of the output alternate at the port of the own
// HBM slice, which is never idle. The time is issue, setup, twice the bytes, and one access.
func TestCompositeBoundByDMA(t *testing.T) {
	for _, tiles := range []int{3, 4, 16} {
		n := tiles * 2048
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			in := a.Shard(0)
			c.Await(c.Composite(tl.Composite{A: in, Out: c.Ref(mem.At(mem.HBM, 0, 1<<20), in.Shape, in.DType)}))
		}, setup{world: 1, n: n})
		c := termsOf(b)
		want := c.I + c.own(int64(2*2*n))
		res, err := b.run(sim.Options{})
		if err != nil || res.Duration() != want {
			t.Errorf("%d tiles: took %v, %v; closed form %v", tiles, res.Duration(), err, want)
		}
	}
}

// TestCompositeBoundByGEMM: the matrix unit is never idle once it has its first operands;
// the last output follows it.
func TestCompositeBoundByGEMM(t *testing.T) {
	const m, k, n = 64, 192, 96 // 2 × 3 × 3 tiles
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		in := func(at int64, d ...int) tl.Ref { return c.Ref(mem.At(mem.HBM, 0, at), tl.Dims(d...), dtype.F16) }
		c.Await(c.Composite(tl.Composite{A: in(0, m, k), B: in(1<<20, k, n), Out: in(2<<20, m, n)}))
	}, setup{world: 1, n: 1, sets: []string{"pe.gemm.clock_ghz=0.1"}})
	c := termsOf(b)
	g := c.spec.GEMM
	operands := int64((g.TileM*g.TileK + g.TileK*g.TileN) * 2)
	steps := (m / g.TileM) * (k / g.TileK) * (n / g.TileN)
	tile := g.Blocks(g.TileM, g.TileK, g.TileN)
	if tile < c.own(operands) {
		t.Fatalf("a tile's product takes %v, its operands %v: the test is about the other case", tile, c.own(operands))
	}
	want := c.I + c.own(operands) + g.Setup + tile
	for range steps - 1 {
		want += tile
	}
	want += c.own(int64(g.TileM * g.TileN * 2))
	res, err := b.run(sim.Options{})
	if err != nil || res.Duration() != want {
		t.Errorf("took %v, %v; closed form %v", res.Duration(), err, want)
	}
}

// TestCompositeOfLoadedOperands: tiles of a tensor need no transfer. With both operands in the PE
// the matrix unit is never idle.
func TestCompositeOfLoadedOperands(t *testing.T) {
	const m, k, n = 32, 3072, 32
	ref := func(c *tl.Context, at int64, d ...int) tl.Ref {
		return c.Ref(mem.At(mem.HBM, 0, at), tl.Dims(d...), dtype.F16)
	}
	tests := []struct {
		name string
		p    func(c *tl.Context) tl.Composite
		want func(c *terms) unit.Time
	}{
		{"A", func(c *tl.Context) tl.Composite {
			return tl.Composite{LoadedA: c.Load(ref(c, 0, m, k)), B: ref(c, 1<<20, k, n)}
		}, func(c *terms) unit.Time {
			g := c.spec.GEMM
			tile, product := c.own(int64(g.TileK*n*2)), g.Blocks(m, g.TileK, n)
			// Two tiles of B are in flight at a time: one of two products hides behind a tile.
			return c.I + c.own(m*k*2) + g.Setup + unit.Time(k/g.TileK/2)*(tile+product) + product
		}},
		{"both", func(c *tl.Context) tl.Composite {
			return tl.Composite{LoadedA: c.Load(ref(c, 0, m, k)), LoadedB: c.Load(ref(c, 1<<20, k, n))}
		}, func(c *terms) unit.Time {
			g := c.spec.GEMM
			return c.I + c.own(2*m*k*2) + g.Setup + unit.Time(k/g.TileK)*g.Blocks(m, g.TileK, n)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, func(c *tl.Context, a tl.Args) {
				p := test.p(c)
				p.Out = ref(c, 2<<20, m, n)
				c.Await(c.Composite(p))
			}, setup{world: 1, n: 1})
			c := termsOf(b)
			want := test.want(&c) + c.own(m*n*2)
			res, err := b.run(sim.Options{})
			if err != nil || res.Duration() != want {
				t.Errorf("took %v, %v; closed form %v", res.Duration(), err, want)
			}
		})
	}
}

// TestCompositeKeepsASlot: a received tensor that a composite reads keeps its slot until the last
// product.
func TestCompositeKeepsASlot(t *testing.T) {
	const m, k, n = 32, 32, 512
	var product, sent unit.Time
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		x := c.Full(tl.Dims(m, k), a.DType, 1)
		if c.Rank() == 0 {
			c.Send(tl.East, x)
			c.Send(tl.East, x)
			return
		}
		ref := func(at int64, d ...int) tl.Ref { return c.Ref(mem.At(mem.HBM, 1, at), tl.Dims(d...), a.DType) }
		h := c.Composite(tl.Composite{LoadedA: c.Recv(tl.West, tl.Dims(m, k), a.DType), B: ref(1<<20, k, n), Out: ref(2<<20, m, n)})
		c.Recv(tl.West, tl.Dims(m, k), a.DType)
		c.Await(h)
	}, setup{world: 2, slots: 1})
	_, err := b.run(sim.Options{Trace: sinkFunc(func(e *trace.Event) {
		switch e.Kind {
		case trace.Gemm:
			product = max(product, e.End)
		case trace.Send:
			sent = max(sent, e.End)
		}
	})})
	if err != nil || product == 0 || sent < product {
		t.Errorf("the slot was sent to at %v, and read until %v; %v", sent, product, err)
	}
}

// TestCompositeBesideArithmetic: a composite and the kernel share the engines in the order
// of simulated time, however far the kernel runs ahead.
func TestCompositeBesideArithmetic(t *testing.T) {
	for _, depth := range []int{1, 4} {
		var traces [2]collector
		for i, yield := range []bool{false, true} {
			b := newBench(t, func(c *tl.Context, a tl.Args) {
				in := a.Shard(c.Rank())
				out := c.Ref(mem.At(mem.HBM, c.Rank(), 1<<20), in.Shape, in.DType)
				x := c.Load(in)
				c.Send(tl.East, x.Slice(0, 5))
				h := c.Composite(tl.Composite{A: in, Out: out,
					Epilogue: []tl.Epilogue{{Op: tl.EpilogueReLU}, {Op: tl.EpilogueScale, Factor: 3}}})
				y := c.Recv(tl.West, tl.Dims(5), a.DType)
				for range 20 {
					x = c.Add(x, x)
					y = c.Load(in.Slice(0, 5))
				}
				c.Store(in.Slice(0, 5), y)
				c.Await(h)
				c.Store(in, c.Add(c.Load(out), x))
			}, setup{world: 3, n: 20000, slots: 2, sets: []string{fmt.Sprintf("pe.dma.queue_depth=%d", depth)}})
			log := b.fill(t, func(r, i int) float64 { return float64(r+i%7) - 3 })
			for r := range 3 {
				if err := log.Map(mem.At(mem.HBM, r, 1<<20), b.typ, b.n); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := b.run(sim.Options{Yield: yield, Trace: &traces[i], Data: log}); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := fmt.Sprint(traces[0]), fmt.Sprint(traces[1]); a != b {
			t.Errorf("depth %d: traces differ", depth)
		}
		busy := 0
		for i, e := range traces[0] {
			for _, f := range traces[0][:i] {
				if e.Kind == trace.Math && f.Kind == trace.Math && e.PE == f.PE && e.Start < f.End && f.Start < e.End {
					t.Fatalf("MATH does two things at once: %+v and %+v", f, e)
				}
			}
			if e.Kind == trace.Math {
				busy++
			}
		}
		if want := 3 * (21 + 2*10); busy != want {
			t.Errorf("%d operations, want %d", busy, want)
		}
	}
}

// TestShallowQueueOnlyTakesLonger: with one place in each DMA queue the values are the same
// and nothing is faster. Two loads and a third: each starts when the one before has left.
func TestShallowQueueOnlyTakesLonger(t *testing.T) {
	const n = 2048
	kernel := func(c *tl.Context, a tl.Args) {
		in := a.Shard(0)
		for range 3 {
			c.Load(in)
		}
	}
	for _, depth := range []int{1, 3} {
		b := newBench(t, kernel, setup{world: 1, n: n, sets: []string{fmt.Sprintf("pe.dma.queue_depth=%d", depth)}})
		c := termsOf(b)
		port := b.topo.Cube().HBMBW.Serial().Time(2 * n)
		want := c.I + c.own(2*n) + 2*port
		if depth == 1 {
			want += 2 * c.S // not hidden
		}
		res, err := b.run(sim.Options{Data: b.fill(t, func(int, int) float64 { return 1 })})
		if err != nil || res.Duration() != want {
			t.Errorf("depth %d: took %v, %v; closed form %v", depth, res.Duration(), err, want)
		}
	}
	// A place is free when its bytes have left, also for a request in between.
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		c.Load(a.Shard(0))
		c.Full(tl.Dims(1), a.DType, 0) // 2 ns, while the port reads
		c.Load(a.Shard(0))
	}, setup{world: 1, n: n, sets: []string{"pe.dma.queue_depth=1"}})
	c := termsOf(b)
	want := c.I + c.own(2*n) + c.S + b.topo.Cube().HBMBW.Serial().Time(2*n)
	if res, err := b.run(sim.Options{}); err != nil || res.Duration() != want {
		t.Errorf("took %v, %v; closed form %v", res.Duration(), err, want)
	}
}

// TestDotClosedForm: the matrix unit works in parallel with the vector unit; a product waits for
// its operands.
func TestDotClosedForm(t *testing.T) {
	const m, k, n = 40, 70, 20
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		x := c.Full(tl.Dims(m, k), a.DType, 1)
		y := c.Full(tl.Dims(k, n), a.DType, 2)
		c.Dot(x, y)
		z := c.Full(tl.Dims(64), a.DType, 3) // meanwhile
		c.Add(z, z)
	}, setup{world: 1})
	c := termsOf(b)
	operands := c.I + c.spec.Math.Time(m*k) + c.spec.Math.Time(k*n)
	product := operands + c.spec.GEMM.Time(m, k, n)
	rest := max(operands, 3*c.I) + c.I + 2*c.spec.Math.Time(64)
	res, err := b.run(sim.Options{Data: b.fill(t, func(int, int) float64 { return 0 })})
	if want := max(product, rest); err != nil || res.Duration() != want {
		t.Errorf("took %v, %v; closed form %v", res.Duration(), err, want)
	}
}
