package sim_test

import (
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/tl"
)

// TestTiles: a block of a matrix is loaded and stored as one transfer of its bytes, and nothing
// next to it changes. A block at the edge is clipped. Of the own memory and of a peer's.
func TestTiles(t *testing.T) {
	const rows, cols = 7, 10
	for peer := range 2 {
		for _, at := range [][2]int{{0, 0}, {3, 4}, {6, 8}, {0, 8}} {
			t.Run(fmt.Sprintf("%d/%v", peer, at), func(t *testing.T) {
				h, w := min(3, rows-at[0]), min(4, cols-at[1])
				b := newWindows(t, func(c *tl.Context, a tl.Args) {
					if c.Rank() != 0 {
						return
					}
					d := c.Desc(c.At(c.Data(a.Window(0), "data"), peer), rows, cols, 3, 4)
					x := c.LoadTile(d, at[0], at[1])
					c.StoreTile(d, at[0], at[1], c.Add(x, x))
				}, setup{world: 2, n: 1}, data(rows*cols))
				log := b.fill(t, func(int, int) float64 { return 0 })
				if err := zero(log, b.win); err != nil {
					t.Fatal(err)
				}
				buf := make([]byte, 2*rows*cols)
				for i := range rows * cols {
					dtype.Set(dtype.F16, buf, i, float64(i))
				}
				if err := log.Write(b.win.Addr(peer, 0), dtype.F16, buf); err != nil {
					t.Fatal(err)
				}
				took := b.took(t, sim.Options{Data: log})
				got, err := log.Read(b.win.Addr(peer, 0), dtype.F16, rows*cols)
				if err != nil {
					t.Fatal(err)
				}
				for i := range rows * cols {
					want := float64(i)
					if r, c := i/cols, i%cols; r >= at[0] && r < at[0]+h && c >= at[1] && c < at[1]+w {
						want *= 2
					}
					if v := dtype.At(dtype.F16, got, i); v != want {
						t.Errorf("element %d is %v, want %v", i, v, want)
					}
				}
				c := termsOf(b.bench)
				bytes := int64(2 * h * w)
				load, store := c.own(bytes), c.own(bytes)
				if peer == 1 {
					load = c.S + c.ask(0, 1) + c.path(b.m.HBM(1), b.m.PE(0), bytes)
					store = c.S + c.path(b.m.PE(0), b.m.HBM(1), bytes)
				}
				if want := c.I + load + c.spec.Math.Time(h*w) + store; took != want {
					t.Errorf("took %v, closed form %v", took, want)
				}
			})
		}
	}
}

// TestBlocksThatOverlap: a block of several messages that is being loaded does not take what
// a later store puts into its last row.
func TestBlocksThatOverlap(t *testing.T) {
	const rows, cols = 400, 64
	far := mem.At(mem.HBM, 40, windowAt)
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		all := c.Ref(far, tl.Dims(rows*cols), a.DType)
		c.Store(all, c.Full(tl.Dims(rows*cols), a.DType, 1))
		c.PipeBarrier()
		x := c.LoadTile(c.Desc(all, rows, cols, rows, cols/2), 0, cols/2)
		c.Store(all.Slice(rows*cols-8, 8), c.Full(tl.Dims(8), a.DType, 7))
		c.Store(a.Shard(0), x.Slice(rows*cols/2-8, 8))
	}, setup{world: 1, n: 8})
	log := b.fill(t, func(int, int) float64 { return 0 })
	if err := log.Map(far, dtype.F16, rows*cols); err != nil {
		t.Fatal(err)
	}
	if _, err := b.run(sim.Options{Data: log}); err != nil {
		t.Fatal(err)
	}
	got, err := log.Read(b.launch.Groups[0].Args.Shards[0], dtype.F16, 8)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if v := dtype.At(dtype.F16, got, i); v != 1 {
			t.Fatalf("element %d is %v, want 1", i, v)
		}
	}
}

// TestCombine: what several put into one place at the same time all counts.
func TestCombine(t *testing.T) {
	const world, n, times = 9, 300, 3
	for seed := range uint64(5) {
		b := newWindows(t, func(c *tl.Context, a tl.Args) {
			d := c.Data(a.Window(0), "data")
			for k := range times {
				if k%2 == 0 {
					c.PutTensorCombine(d, 4, c.Full(tl.Dims(n), a.DType, float64(c.Rank())), tl.Sum)
				} else {
					c.PutCombine(d, 4, a.Shard(c.Rank()), tl.Sum)
				}
			}
			c.Barrier(a.Window(0).Team)
			if c.Rank() == 4 {
				c.Store(a.Shard(4), c.Load(c.Local(d)))
			}
		}, setup{world: world, n: n}, data(n))
		log := b.fill(t, func(r, i int) float64 { return float64(r + i%3) })
		if err := zero(log, b.win); err != nil {
			t.Fatal(err)
		}
		b.took(t, sim.Options{Data: log, Seed: seed})
		got, err := log.Read(b.launch.Groups[0].Args.Shards[4], dtype.F16, n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			want := float64(3*36 + 9*(i%3)) // 36 is the sum of all ranks
			if v := dtype.At(dtype.F16, got, i); v != want {
				t.Fatalf("seed %d: element %d is %v, want %v", seed, i, v, want)
			}
		}
	}
}
