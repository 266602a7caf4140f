package sim_test

import (
	"bytes"
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// own loads the rank's shard.
func own(c *tl.Context, a tl.Args) tl.Tensor { return c.Load(a.Shard(c.Rank())) }

// like receives what looks like t.
func like(c *tl.Context, d tl.Dir, t tl.Tensor) tl.Tensor { return c.Recv(d, t.Shape(), t.DType()) }

// TestOwnAccessesKeepTheirOrder: a kernel's load returns the contents before its own later stores
// and after its earlier ones. This holds for any memory and any route.
func TestOwnAccessesKeepTheirOrder(t *testing.T) {
	const n = 20000 // many messages
	tests := []struct {
		name   string
		space  mem.Space
		kernel func(c *tl.Context, there, out tl.Ref)
		want   [2]float64 // first and last element of out; memory holds 1
	}{
		{"load, then store", 0, func(c *tl.Context, there, out tl.Ref) {
			x := c.Load(there)
			c.Store(there.Slice(n-1, 1), c.Full(tl.Dims(1), there.DType, 7))
			c.Store(out, x)
		}, [2]float64{1, 1}},
		{"store, then load", 0, func(c *tl.Context, there, out tl.Ref) {
			c.Store(there, c.Full(tl.Dims(n), there.DType, 7))
			x := c.Load(there.Slice(n-1, 1))
			c.Store(out.Slice(n-1, 1), x)
		}, [2]float64{1, 7}},
		{"store, then store", 0, func(c *tl.Context, there, out tl.Ref) {
			c.Store(there, c.Full(tl.Dims(n), there.DType, 7))
			c.Store(there.Slice(0, 1), c.Full(tl.Dims(1), there.DType, 8))
			c.Store(out, c.Load(there))
		}, [2]float64{8, 7}},
		{"store, then send from memory", 0, func(c *tl.Context, there, out tl.Ref) {
			c.Store(there, c.Full(tl.Dims(n), there.DType, 7))
			c.SendRef(tl.East, there.Slice(n-1, 1))
			c.Store(out.Slice(0, 1), c.Recv(tl.West, tl.Dims(1), there.DType))
		}, [2]float64{7, 1}},
		{"load, then receive there", 0, func(c *tl.Context, there, out tl.Ref) {
			c.Send(tl.East, c.Full(tl.Dims(1), there.DType, 9))
			for range 1000 {
				c.Full(tl.Dims(1), there.DType, 0) // until the message is there
			}
			x := c.Load(there)
			c.RecvTo(tl.West, there.Slice(n-1, 1))
			c.Store(out, x)
		}, [2]float64{1, 1}},
		{"store, then receive there", 0, func(c *tl.Context, there, out tl.Ref) {
			c.Send(tl.East, c.Full(tl.Dims(1), there.DType, 9))
			for range 1000 {
				c.Full(tl.Dims(1), there.DType, 0)
			}
			c.Store(there, c.Full(tl.Dims(n), there.DType, 7))
			c.RecvTo(tl.West, there.Slice(n-1, 1))
			c.Store(out, c.Load(there))
		}, [2]float64{7, 9}},
	}
	places := map[string]mem.Addr{
		"own HBM": mem.At(mem.HBM, 0, 1<<20), "HBM next door": mem.At(mem.HBM, 1, 1<<20), "HBM far away": mem.At(mem.HBM, 40, 1<<20),
		"TCM": mem.At(mem.TCM, 0, 1<<20), "SRAM": mem.At(mem.SRAM, 0, 1<<20), "SRAM far away": mem.At(mem.SRAM, 3, 1<<20),
	}
	for _, tt := range tests {
		for where, a := range places {
			for _, f := range []noc.Fidelity{noc.Slot, noc.Flit, noc.Ideal} {
				t.Run(fmt.Sprintf("%s/%s/%v", tt.name, where, f), func(t *testing.T) {
					b := newBench(t, func(c *tl.Context, args tl.Args) {
						tt.kernel(c, c.Ref(a, tl.Dims(n), args.DType), args.Shard(0))
					}, setup{world: 1, n: n})
					log := b.fill(t, func(int, int) float64 { return 1 })
					if err := log.Map(a, dtype.F16, n); err != nil {
						t.Fatal(err)
					}
					one, _ := log.Read(b.launch.Groups[0].Args.Shards[0], dtype.F16, n)
					if err := log.Write(a, dtype.F16, one); err != nil {
						t.Fatal(err)
					}
					if _, err := b.run(sim.Options{Data: log, Fidelity: f}); err != nil {
						t.Fatal(err)
					}
					got, err := log.Read(b.launch.Groups[0].Args.Shards[0], dtype.F16, n)
					if err != nil {
						t.Fatal(err)
					}
					if first, last := dtype.At(dtype.F16, got, 0),
						dtype.At(dtype.F16, got, n-1); first != tt.want[0] || last != tt.want[1] {
						t.Errorf("out holds %v … %v, want %v", first, last, tt.want)
					}
				})
			}
		}
	}
}

// TestStreamsTakeTheirPlaces: a long payload that is still being sent takes places of the
// DMA queue meanwhile, which a kernel that runs ahead must not overlook.
func TestStreamsTakeTheirPlaces(t *testing.T) {
	for _, depth := range []int{1, 2, 3} {
		for work := range 60 {
			var traces [2]collector
			for i, yield := range []bool{false, true} {
				b := newBench(t, func(c *tl.Context, a tl.Args) {
					if c.Rank() == 1 {
						c.Recv(tl.West, tl.Dims(64), a.DType)
						return
					}
					if c.Rank() == 2 {
						c.Recv(tl.East, tl.Dims(1), a.DType)
						return
					}
					x, y := c.Full(tl.Dims(64), a.DType, 1), c.Full(tl.Dims(1), a.DType, 1)
					c.Send(tl.East, x)
					for range work {
						c.Full(tl.Dims(1), a.DType, 1)
					}
					c.Send(tl.West, y)
				}, setup{world: 3, slotBytes: 8, slots: 2, sets: []string{
					fmt.Sprintf("pe.dma.queue_depth=%d", depth), "pe.tcm.bw_gbs=1", "pe.dma.setup_ns=9",
				}})
				if _, err := b.run(sim.Options{Yield: yield, Trace: &traces[i]}); err != nil {
					t.Fatal(err)
				}
			}
			if a, b := fmt.Sprint(traces[0]), fmt.Sprint(traces[1]); a != b {
				t.Fatalf("depth %d, work %d: with run-ahead\n%v\nwithout\n%v", depth, work, a, b)
			}
		}
	}
}

// TestFreedWhileLoading: a tensor that is freed before its bytes have come leaves its cell
// to another, which does not take them for its own.
func TestFreedWhileLoading(t *testing.T) {
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		c.Free(own(c, a))
		x := c.Load(c.Ref(mem.At(mem.HBM, 40, 0), tl.Dims(a.NElem), a.DType))
		c.Store(a.Shard(0), x)
	}, setup{world: 1, n: 8})
	log := b.fill(t, func(int, int) float64 { return 1 })
	far := mem.At(mem.HBM, 40, 0)
	if err := log.Map(far, dtype.F16, 8); err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte{0, 0x40}, 8) // 2
	if err := log.Write(far, dtype.F16, want); err != nil {
		t.Fatal(err)
	}
	res, err := b.run(sim.Options{Data: log})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := log.Read(b.launch.Groups[0].Args.Shards[0], dtype.F16, 8); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the shard holds %x, %v; want %x", got, err, want)
	}
	if least := 100 * unit.Nanosecond; res.Duration() < least {
		t.Errorf("took %v: a far load alone takes more than %v", res.Duration(), least)
	}
}

// TestNextLaunchStartsAfter: a launch begins when the one before it has ended, though
// nothing but arithmetic happened at its end.
func TestNextLaunchStartsAfter(t *testing.T) {
	for _, yield := range []bool{false, true} {
		b := newBench(t, func(c *tl.Context, a tl.Args) { c.Full(tl.Dims(100000), a.DType, 1) }, setup{world: 2})
		e := sim.New(b.m, sim.Options{Yield: yield})
		var end unit.Time
		for range 3 {
			res, err := e.Launch(t.Context(), b.launch)
			if err != nil {
				t.Fatal(err)
			}
			if res.Start != end || res.End == end || e.Now() != res.End {
				t.Errorf("yield=%v: %v..%v after %v, now %v", yield, res.Start, res.End, end, e.Now())
			}
			end = res.End
		}
	}
}

// TestOwnAccessesUnderSchedules: nor can a random schedule change that order.
func TestOwnAccessesUnderSchedules(t *testing.T) {
	const n = 64
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		mine := a.Shard(0)
		for k := range 10 {
			c.Store(mine, c.Full(tl.Dims(n), a.DType, float64(k)))
			c.SendRef(tl.East, mine)
			c.Store(mine, c.Add(c.Load(mine), c.Recv(tl.West, tl.Dims(n), a.DType)))
		}
	}, setup{world: 1, n: n})
	for seed := range uint64(40) {
		log := b.fill(t, func(int, int) float64 { return 1 })
		if _, err := b.run(sim.Options{Data: log, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		got, err := log.Read(b.launch.Groups[0].Args.Shards[0], dtype.F16, n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if v := dtype.At(dtype.F16, got, i); v != 18 {
				t.Fatalf("seed %d: element %d is %v, want 18", seed, i, v)
			}
		}
	}
}
