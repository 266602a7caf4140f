package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
	"kernbench/mem"
	"kernbench/tl"
)

// ringRounds is a kernel of a ring. In each round a rank adds the received vector, sends it on
// east, and sends a part of it west. Before its rounds, at their end, or in the middle one rank
// does something else besides.
type ringRounds struct {
	rounds, odd, when int
	otherwise         func(c *tl.Context, a tl.Args, x tl.Tensor)
}

func (k *ringRounds) kernel(c *tl.Context, a tl.Args) {
	x := own(c, a)
	for i := range k.rounds {
		if c.Rank() == k.odd && i == k.when {
			k.otherwise(c, a, x)
		}
		c.Send(tl.East, x)
		y := like(c, tl.West, x)
		c.Send(tl.West, x.Slice(0, x.Len()/2))
		c.Store(a.Shard(c.Rank()).Slice(0, x.Len()/2), c.Recv(tl.East, tl.Dims(x.Len()/2), a.DType))
		x = c.Add(x, y)
	}
	c.Store(a.Shard(c.Rank()), x)
}

// TestOneRankDiffers: a rank that does one thing besides, early or late, changes the times of its
// neighbours, and those of theirs. They are what events bring about.
func TestOneRankDiffers(t *testing.T) {
	for name, otherwise := range map[string]func(c *tl.Context, a tl.Args, x tl.Tensor){
		"stores":              func(c *tl.Context, a tl.Args, x tl.Tensor) { storeOften(c, a, 40) },
		"loads":               func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Free(own(c, a)) },
		"waits":               func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Add(own(c, a), x) },
		"works":               func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Exp(c.Exp(x)) },
		"waits for the third": func(c *tl.Context, a tl.Args, x tl.Tensor) { c.FMA(x, x, own(c, a)) },
		"works longer":        func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Sum(c.Full(tl.Dims(9, 50), a.DType, 1), 0) },
		"multiplies": func(c *tl.Context, a tl.Args, x tl.Tensor) {
			c.Dot(c.Full(tl.Dims(9, 50), a.DType, 1), c.Full(tl.Dims(50, 3), a.DType, 1))
		},
		"announces": func(c *tl.Context, a tl.Args, x tl.Tensor) {
			c.Send(tl.East, x) // for itself, round the ring of one
			c.Wait(c.RecvAsync(tl.West, x.Shape(), x.DType()))
		},
		"tiles": func(c *tl.Context, a tl.Args, x tl.Tensor) {
			d := c.Desc(a.Shard(c.Rank()), 8, x.Len()/8, 4, 3)
			c.StoreTile(d, 2, 1, c.LoadTile(d, 0, 0))
		},
	} {
		world := map[string]int{"announces": 1}[name]
		def(&world, 9)
		for _, when := range []int{0, 3, 5} {
			for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
				t.Run(fmt.Sprintf("%s/%d/%v", name, when, f), func(t *testing.T) {
					k := &ringRounds{6, world / 2, when, otherwise}
					b := newBench(t, k.kernel, setup{world: world, n: 64, slotBytes: 32})
					b.sameReplayed(t, sim.Options{Fidelity: f}, views{}, views{true, true})
				})
			}
		}
	}
}

func storeOften(c *tl.Context, a tl.Args, times int) {
	x := own(c, a)
	for range times {
		c.Store(a.Shard(c.Rank()), x)
	}
}

// TestSlotsInUse: a credit leaves when the last operation that reads the slot has ended. That is
// arithmetic, a store, or a message that continues over links that others use, too.
func TestSlotsInUse(t *testing.T) {
	const n = 256
	to := map[int]int{}
	for x := range 4 { // chains of four SIPs
		to[x], to[x+8], to[x+16] = x+8, x+16, x+24
	}
	for name, use := range map[string]func(c *tl.Context, a tl.Args, got tl.Tensor){
		"nothing": func(*tl.Context, tl.Args, tl.Tensor) {},
		"first":   func(c *tl.Context, _ tl.Args, got tl.Tensor) { c.Exp(got) },
		"second":  func(c *tl.Context, _ tl.Args, got tl.Tensor) { c.Add(c.Full(got.Shape(), got.DType(), 1), got) },
		"third": func(c *tl.Context, _ tl.Args, got tl.Tensor) {
			one := c.Full(got.Shape(), got.DType(), 1)
			c.FMA(one, one, got)
		},
		"product": func(c *tl.Context, a tl.Args, got tl.Tensor) { c.Dot(c.Full(tl.Dims(64, 4), a.DType, 1), got) },
		"store":   func(c *tl.Context, a tl.Args, got tl.Tensor) { c.Store(a.Shard(c.Rank()), got) },
		"sent on": func(*tl.Context, tl.Args, tl.Tensor) {}, // but to the next
	} {
		for slots := 1; slots <= 3; slots++ {
			t.Run(fmt.Sprintf("%s/%d", name, slots), func(t *testing.T) {
				b := newBench(t, func(c *tl.Context, a tl.Args) {
					_, sends := c.Neighbor(tl.East)
					_, receives := c.Neighbor(tl.West)
					x := c.Full(tl.Dims(4, n/4), a.DType, 1)
					for range 12 {
						got := x
						if receives {
							got = like(c, tl.West, x)
							use(c, a, got)
						}
						if sends && name == "sent on" {
							c.Send(tl.East, got)
						} else if sends {
							c.Send(tl.East, x)
						}
					}
				}, setup{world: 64, n: n, slots: slots, slotBytes: 2 * n, neighbors: eastward(to),
					sets: append(smallSIPs(eightSIPs), "pe.math.lanes=1")})
				for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
					b.sameReplayed(t, sim.Options{Fidelity: f}, views{trace: true})
				}
			})
		}
	}
}

// TestOneRankStoresOften: in a ring of 64 ranks one stores many times more than the others, so
// that all are as late as it is.
func TestOneRankStoresOften(t *testing.T) {
	same := newBench(t, (&ringRounds{rounds: 70, odd: -1}).kernel, setup{world: 64, n: 64})
	for i, odd := range []int{0, 1, 17, 63} {
		k := &ringRounds{70, odd, 2, func(c *tl.Context, a tl.Args, x tl.Tensor) { storeOften(c, a, 5000) }}
		b := newBench(t, k.kernel, setup{world: 64, n: 64})
		for j, o := range []sim.Options{{}, {SecondCore: true}, {Fidelity: noc.Ideal, SecondCore: true}} {
			if !exhaustive.On() && (i+j)%2 > 0 {
				continue
			}
			outs := b.sameReplayed(t, o, views{}, views{data: true})
			if res, err := same.run(o); err != nil || outs[0].Result.Duration() < res.Duration()+2000*b.topo.PE().Issue {
				t.Errorf("rank %d, %+v: %v, all the same %v (%v)", odd, o, outs[0].Result.Duration(), res.Duration(), err)
			}
		}
	}
}

// randomRing draws a kernel of a ring whose messages meet: all send and receive the same, or
// payloads whose lengths depend on the ring. Between them ranks load, store and compute.
func randomRing(seed uint64, odd int) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		all, besides := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
		me, world := c.Rank(), c.WorldSize()
		x := own(c, a)
		acc := x
		at := besides.IntN(20)
		extra, count := besides.IntN(4), 1+besides.IntN(30)
		for i := range 20 {
			if i == at && me == odd {
				for range count {
					switch extra {
					case 0:
						c.Store(a.Shard(me).Slice(0, acc.Len()), acc)
					case 1:
						acc = c.Add(acc, acc)
					case 2:
						c.Free(c.Load(a.Shard(me).Slice(0, 1+count)))
					case 3:
						x = own(c, a)
					}
				}
			}
			n := 1 + all.IntN(a.NElem)
			length := func(from int) int { // of what a rank sends
				if seed%2 == 0 && from == odd {
					return max(1, n/2)
				}
				return n
			}
			switch all.IntN(6) {
			case 0:
				c.Send(tl.East, x.Slice(0, length(me)))
				got := c.Recv(tl.West, tl.Dims(length((me+world-1)%world)), a.DType)
				m := min(acc.Len(), got.Len())
				acc = c.Add(acc.Slice(0, m), got.Slice(got.Len()-m, m))
			case 1:
				c.Send(tl.West, acc.Slice(acc.Len()-1, 1))
				c.Recv(tl.East, tl.Dims(1), a.DType)
			case 2:
				c.SendRef(tl.East, a.Shard(me).Slice(0, length(me)))
				c.SendRef(tl.West, a.Shard(me).Slice(0, n))
				c.Recv(tl.East, tl.Dims(n), a.DType)
				c.Store(a.Shard(me).Slice(0, length((me+world-1)%world)), c.Recv(tl.West, tl.Dims(length((me+world-1)%world)), a.DType))
			case 3:
				acc = c.Scale(dtype.Div, acc, 2)
			case 4:
				c.Store(a.Shard(me).Slice(0, acc.Len()), acc)
			case 5:
				acc = own(c, a)
			}
		}
		c.Store(a.Shard(me).Slice(0, acc.Len()), acc)
	}
}

// TestRandomRings: kernels of random messages and operations take as long in both modes and have
// the same results. One rank does more, or sends other lengths.
func TestRandomRings(t *testing.T) {
	for seed := range uint64(40) {
		d := rand.New(rand.NewPCG(seed, 3))
		world := 2 + d.IntN(12)
		s := setup{
			world: world, n: 32, slots: 2 + d.IntN(4), slotBytes: []int64{8, 64, 4096}[d.IntN(3)],
			ring: func(r *tl.Ring) {
				r.Poll, r.WakeCost, r.Protocol = seed%3 == 0, 700, protocols[[]string{"", "ll", "simple", "slow"}[seed%4]]
			},
		}
		b := newBench(t, randomRing(seed, d.IntN(world)), s)
		for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
			outs, _ := b.sameInBothModes(t, sim.Options{Fidelity: f}, views{}, views{true, true})
			if outs[0].Err != "" {
				t.Errorf("seed %d: %s", seed, outs[0].Err)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, %d ranks", seed, world)
		}
	}
}

// TestRandomRingsOnLevels: the same on PEs of many SIPs, whose messages meet at few links, with DMA
// queues of any depth.
func TestRandomRingsOnLevels(t *testing.T) {
	inOneGoroutine(t)
	seeds, replays := 60, 0
	if !exhaustive.On() {
		seeds = 30
	}
	for seed := range uint64(seeds) {
		d := rand.New(rand.NewPCG(seed, 4))
		world := 3 + d.IntN(20)
		b := newBench(t, randomRing(seed, d.IntN(world)), setup{
			world: world, n: 32, slots: 2 + d.IntN(3), slotBytes: []int64{8, 64, 4096}[d.IntN(3)],
			sets: append(smallSIPs(eightSIPs), fmt.Sprint("pe.dma.queue_depth=", []int{1, 2, 3, 4, 64, 64}[d.IntN(6)]),
				fmt.Sprint("sip.ucie.bw_gbs=", []int{1, 8, 100}[d.IntN(3)]),
				fmt.Sprint("cube.noc.link_bw_gbs=", []int{1, 16, 256}[d.IntN(3)])),
		})
		g := &b.launch.Groups[0]
		for r, pe := range d.Perm(64)[:world] {
			g.PEs[r], g.Args.Shards[r] = int32(pe), mem.At(mem.HBM, pe, 0)
		}
		for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
			outs, replayed := b.sameInBothModes(t, sim.Options{Fidelity: f}, views{trace: true})
			if outs[0].Err != "" {
				t.Error(outs[0].Err)
			}
			if replayed {
				replays++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d, %d ranks", seed, world)
		}
	}
	if replays < seeds {
		t.Errorf("only %d launches were replayed", replays)
	}
}

// TestDMAQueue: PEs whose DMA queues hold fewer descriptors than their rings have slots wait for
// space in them, at the same times in both modes.
func TestDMAQueue(t *testing.T) {
	inOneGoroutine(t)
	full := false
	for i, a := range []*algorithm.Algorithm{algorithm.RingAllReduceChunked, algorithm.HalvingDoublingAllReduce,
		algorithm.RecursiveDoublingAllReduce, algorithm.TorusAllReduce} {
		for _, slots := range []int{2, 5} {
			var unlimited outcome
			for j, depth := range []int{64, 1, 2, 3, 5, 8} {
				b := libraryBench(t, a, setup{
					world: 16, n: 16 * 40, slots: max(slots, a.MinSlots), slotBytes: 4096, chunk: 32,
					sets: []string{fmt.Sprint("pe.dma.queue_depth=", depth), "cube.noc.link_bw_gbs=4", "sip.ucie.bw_gbs=2"},
				})
				for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
					if !exhaustive.On() && f == noc.Ideal && (i+j)%3 > 0 {
						continue
					}
					outs := b.sameReplayed(t, sim.Options{Fidelity: f}, views{trace: true})
					if outs[0].Err != "" {
						t.Error(a.Name, outs[0].Err)
					}
					if f == noc.Slot && depth == 64 {
						unlimited = outs[0]
					}
					full = full || f == noc.Slot && outs[0].Result.End > unlimited.Result.End
				}
			}
		}
	}
	if !full {
		t.Error("no queue was full")
	}
}
