package sim_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// empty is memory of a rank that nobody has written.
func empty(rank int) mem.Addr { return mem.At(mem.HBM, rank, 1<<20) }

// results are the bytes and the provenance of all shards, or the fault.
func (b *bench) results(t *testing.T, o sim.Options) string {
	t.Helper()
	o.Data = b.fill(t, func(r, i int) float64 { return float64((r*31+i*7)%61) / 4 })
	for r := range b.launch.Groups[0].PEs {
		if err := o.Data.Map(empty(r), b.typ, 4); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range b.launch.Groups[0].Args.Windows {
		for r := range w.Team.PEs {
			for _, p := range w.Layout.Parts {
				if err := o.Data.Map(w.Addr(r, p.Off), p.Type, p.Count); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	res, err := b.run(o)
	if err != nil {
		return err.Error()
	}
	said := fmt.Sprintln(res.End, res.Messages, res.Traffic)
	for _, a := range b.launch.Groups[0].Args.Shards {
		data, prov, err := o.Data.View(a, b.typ, b.n)
		if err != nil {
			t.Fatal(err)
		}
		said += fmt.Sprintln(data, prov)
	}
	return said
}

// counted counts how many times a kernel is run.
func counted(k tl.Kernel, runs *atomic.Int32) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		runs.Add(1)
		k(c, a)
	}
}

// TestUnison: data that all ranks carry out at a time comes to what the log makes of it.
func TestUnison(t *testing.T) {
	for _, a := range onRings() {
		if a.Alike == nil {
			continue
		}
		worlds := []int{8, 25, 12}
		if testing.Short() { // the race detector is slow
			worlds = worlds[:1]
		}
		for _, world := range worlds {
			for _, chunk := range []int{0, 16} {
				for _, op := range tl.ReduceOps() {
					if chunk+world > 25 && op != tl.Avg {
						continue // for the time that it takes
					}
					typ := []dtype.Type{dtype.F16, dtype.I32, dtype.F32, dtype.BF16, dtype.I8}[op]
					t.Run(fmt.Sprintf("%s/%d/%d/%v", a.Name, world, chunk, op), func(t *testing.T) {
						s := setup{world: world, n: 20 * world, typ: typ, op: op, chunk: int64(chunk), slotBytes: 32}
						if a.Check != nil && a.Check(world, s.n) != nil {
							t.Skip("not of this size")
						}
						b := libraryBench(t, a, s)
						if !b.launch.Alike {
							t.Skip("not alike at this size")
						}
						var runs atomic.Int32
						b.launch.Kernel = counted(a.Kernel, &runs)
						got := [2]string{b.results(t, sim.Options{}), b.results(t, sim.Options{SecondCore: true})}
						if n := runs.Load(); n < 2*int32(world+2) {
							t.Errorf("kernels ran %d times: nobody sang", n)
						}
						b.launch.Alike = false
						want := b.results(t, sim.Options{})
						if got[0] != want || got[1] != want {
							t.Errorf("got  %.300s\nand  %.300s\nwant %.300s", got[0], got[1], want)
						}
					})
				}
			}
		}
	}
}

// mistaken are kernels of a ring of alike ranks that go wrong, or do what is unusual.
var mistaken = map[string]tl.Kernel{
	"twice": func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		v := c.Load(mine)
		c.Send(tl.East, v)
		c.Store(mine, c.Add(c.Add(v, c.Recv(tl.West, v.Shape(), v.DType())), v))
	},
	"another operation": func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		v := c.Load(mine)
		c.Send(tl.East, v)
		c.Store(mine, c.Sub(v, c.Recv(tl.West, v.Shape(), v.DType())))
	},
	"another place": func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		c.Send(tl.East, c.Load(mine.Chunk(4, c.Rank()%4)))
		c.Store(mine.Chunk(4, c.Rank()%3), c.Recv(tl.West, mine.Chunk(4, 0).Shape, a.DType))
	},
	"parts": func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		v := c.Load(mine)
		c.Send(tl.East, v.Slice(4, 8))
		got := c.Recv(tl.West, tl.Dims(8), a.DType)
		c.Send(tl.East, got)
		sum := c.Add(got, v.Slice(8, 8))
		next := c.Recv(tl.West, tl.Dims(8), a.DType)
		c.Store(mine.Slice(2, 8), c.Add(sum, next))
		c.SendRef(tl.East, mine.Slice(0, 6))
		f := c.RecvAsync(tl.West, tl.Dims(6), a.DType)
		late := c.Wait(f)
		c.Send(tl.East, late)
		c.Store(mine.Slice(10, 3), c.Scale(dtype.Mul, c.Recv(tl.West, tl.Dims(6), a.DType).Slice(3, 3), 0.5))
	},
	"nothing": func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		c.Send(tl.East, c.Load(mine.Slice(0, 0)))
		none := c.Recv(tl.West, tl.Dims(0), a.DType)
		sum := c.Add(none, none)
		c.Store(mine.Slice(1, 0), c.Scale(dtype.Div, sum, 2))
		c.Free(sum)
		c.Store(mine, c.Load(mine))
	},
	"reductions that are none": func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		v := c.Load(mine)
		c.Store(mine.Slice(0, 1), c.Sum(v, 0))
	},
	"never written": func(c *tl.Context, a tl.Args) {
		c.Load(tl.Ref{Addr: empty(c.Rank()), Shape: tl.Dims(4), DType: a.DType})
	},
	"no memory": func(c *tl.Context, a tl.Args) {
		v := c.Load(a.Shard(c.Rank()))
		c.Store(tl.Ref{Addr: empty(c.Rank()) + 2, Shape: tl.Dims(4), DType: a.DType}, v.Slice(0, 4))
	},
	"full rings": func(c *tl.Context, a tl.Args) {
		for range 9 {
			c.SendRef(tl.East, a.Shard(c.Rank()))
		}
		for range 9 {
			c.Store(a.Shard(c.Rank()), c.Recv(tl.West, tl.Dims(a.NElem), a.DType))
		}
	},
	"a cycle": func(c *tl.Context, a tl.Args) {
		c.Send(tl.East, c.Recv(tl.West, tl.Dims(4), a.DType))
	},
	"a panic": func(c *tl.Context, a tl.Args) {
		c.Load(a.Shard(c.Rank()))
		panic("here")
	},
}

var when = regexp.MustCompile(` t=[0-9.]+.?s`)

// TestUnisonOfMistakes: what a kernel does wrong comes to the same, and what is unusual as well.
func TestUnisonOfMistakes(t *testing.T) {
	for name, k := range mistaken {
		t.Run(name, func(t *testing.T) {
			var said [2]string
			for i := range said {
				b := newBench(t, k, setup{world: 16, n: 16})
				b.launch.Local, b.launch.Sends, b.launch.Alike = true, []tl.Dir{tl.East}, i == 0
				said[i], _, _ = strings.Cut(b.results(t, sim.Options{SecondCore: true}), "goroutine")
				said[i] = when.ReplaceAllString(said[i], "") // which is not known of what data finds
			}
			if said[0] != said[1] {
				t.Errorf("alike %.600s\nelse  %.600s", said[0], said[1])
			}
		})
	}
}

// TestUnisonOfUnlike: a rank whose kernel is not that of the others is found, whichever it is.
func TestUnisonOfUnlike(t *testing.T) {
	const odd = 5 // which is none of those that are compared when one is recorded for all
	isOdd := func(c *tl.Context) int { return map[int]int{odd: 1}[c.Rank()] }
	for name, k := range map[string]func(c *tl.Context, mine tl.Ref){
		"more": func(c *tl.Context, mine tl.Ref) {
			v := c.Load(mine)
			if c.Rank() == odd {
				c.Store(mine, v)
			}
		},
		"less": func(c *tl.Context, mine tl.Ref) {
			v := c.Load(mine)
			if c.Rank() != odd {
				c.Store(mine, v)
			}
		},
		"longer": func(c *tl.Context, mine tl.Ref) {
			c.Load(mine.Slice(0, 8-isOdd(c)))
		},
		"other operand": func(c *tl.Context, mine tl.Ref) {
			v := [2]tl.Tensor{c.Load(mine), c.Load(mine)}
			c.Add(v[0], v[isOdd(c)])
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *tl.Context, a tl.Args) { k(c, a.Shard(c.Rank())) }, setup{world: 8, n: 8})
			b.launch.Local, b.launch.Alike = true, true
			_, err := b.run(sim.Options{Data: b.fill(t, func(r, i int) float64 { return 1 })})
			var misuse *fault.Misuse
			if !errors.As(err, &misuse) || misuse.Rank != odd || !strings.Contains(misuse.Reason, "alike") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestUnisonEnds: data that is not wanted any more is not carried out to its end, and no coroutine is left.
func TestUnisonEnds(t *testing.T) {
	ring := func(steps int, at func(c *tl.Context, step int)) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			v := c.Load(a.Shard(c.Rank()))
			for i := range steps {
				at(c, i)
				c.Send(tl.East, v)
				v = c.Recv(tl.West, v.Shape(), v.DType())
			}
		}
	}
	var cancel func()
	for name, k := range map[string]tl.Kernel{
		"a rank gives up": ring(3000, func(c *tl.Context, i int) { panicAt(c.Rank() == 5 && i == 2000) }),
		"cancelled": ring(6000, func(c *tl.Context, i int) {
			if c.Rank() == 5 && i == 2000 { // which is no rank that is followed
				cancel()
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, second := range []bool{true, false} {
				before := runtime.NumGoroutine()
				var ctx context.Context
				ctx, cancel = context.WithCancel(t.Context())
				defer cancel()
				b := newBench(t, k, setup{world: 16, n: 8})
				b.launch.Local, b.launch.Sends, b.launch.Alike = true, []tl.Dir{tl.East}, true
				log := b.fill(t, func(r, i int) float64 { return 1 })
				_, err := sim.New(b.m, b.topo, sim.Options{SecondCore: second, Data: log}).Launch(ctx, b.launch)
				if err == nil || (name == "cancelled") != errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				log.Close()
				for i := 0; runtime.NumGoroutine() > before; i++ {
					if i == 100 {
						t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
}
