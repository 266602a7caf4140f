package run_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/mem"
	"kernbench/tl"
)

// atomicStep is a step of a random program with atomics on words of rank 0.
type atomicStep func(c *tl.Context, words tl.Signal, block tl.Sym, mine tl.Ref)

// atomicSteps makes the steps of random programs. Some act on what atomics return.
func atomicSteps(rng *rand.Rand, world int) (steps []atomicStep) {
	extra := func(c *tl.Context) { c.Full(tl.Dims(1), dtype.F32, 1) }
	for i := range 1 + rng.IntN(3) {
		act := rng.IntN(4) == 0
		switch rng.IntN(4) {
		case 0: // a lock; all write blocks of their own, or one block
			one := rng.IntN(3) == 0
			steps = append(steps, func(c *tl.Context, w tl.Signal, block tl.Sym, mine tl.Ref) {
				tries := 1
				for ; c.CompareSwap(w.At(4*i), 0, 0, 1) != 0; tries++ {
				}
				if n := mine.Len(); one {
					c.Put(block.Slice(0, n), 0, mine)
				} else {
					c.Put(block.Slice(c.Rank()*n, n), 0, mine)
				}
				c.Quiet()
				c.CompareSwap(w.At(4*i), 0, 1, 0)
				if act && tries > 1 {
					extra(c)
				}
			})
		case 1: // turns
			steps = append(steps, func(c *tl.Context, w tl.Signal, block tl.Sym, mine tl.Ref) {
				me := int64(c.Rank())
				for c.CompareSwap(w.At(4*i+1), 0, me, -1) != me {
				}
				c.Put(block.Slice(0, mine.Len()), 0, mine)
				c.Quiet()
				c.CompareSwap(w.At(4*i+1), 0, -1, me+1)
			})
		case 2: // a count that one rank or all ranks use
			steps = append(steps, func(c *tl.Context, w tl.Signal, block tl.Sym, mine tl.Ref) {
				var got int64
				for peer := range world {
					got = c.FetchAdd(w.At(4*i+2), peer, 1)
				}
				if act && got == int64(world-1) {
					c.Put(block.Slice(0, mine.Len()), 0, mine)
					c.Quiet()
				}
				c.WaitUntil(w.At(4*i+2), tl.GE, int64(world))
			})
		case 3: // a lock that is tried once
			steps = append(steps, func(c *tl.Context, w tl.Signal, block tl.Sym, mine tl.Ref) {
				if c.CompareSwap(w.At(4*i+3), 0, 0, int64(c.Rank())+1) == 0 {
					c.Put(block.Slice(0, mine.Len()), 0, mine)
					c.Quiet()
				}
			})
		}
	}
	return steps
}

// A program that is called counting comes to the same result in every schedule.
func TestAtomicsAndSchedules(t *testing.T) {
	const world = 3
	counting, scheduled := 0, 0
	for i := range uint64(40) {
		steps := atomicSteps(rand.New(rand.NewPCG(i, 5)), world)
		name := fmt.Sprintf("lab_random_atomics_%d", i)
		algorithm.Register(algorithm.Algorithm{
			Name: name, Collective: "all_gather", Topology: "none", Atomics: true,
			Window: func(world, n int, _ dtype.Type) (*mem.Layout, error) {
				return mem.NewLayout(0, []mem.Buffer{
					{Name: "words", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 16)}},
					{Name: "block", Parts: []mem.Part{mem.DataPart("", dtype.F32, n*world)}},
				})
			},
			Kernel: func(c *tl.Context, a tl.Args) {
				w := a.Window(0)
				words, block := c.Signals(w, "words"), c.Data(w, "block")
				for _, step := range steps {
					step(c, words, block, a.Shard(c.Rank()))
				}
				c.Barrier(w.Team)
				c.Copy(a.Out(c.Rank(), world*a.NElem), c.At(block, 0))
			},
		})
		r, err := run.Run(ctx, run.Spec{
			Algorithm: name, Executor: "mock", Ranks: world, NElem: 1, DType: dtype.F32, Race: &yes, Schedules: 8,
		})
		if err != nil || r.Class == nil {
			t.Fatalf("program %d: %v, %+v", i, err, r)
		}
		if r.Class.Name != "counting" {
			scheduled++
			continue
		}
		counting++
		if n := len(r.Schedules.Outcomes); n != 1 {
			t.Errorf("program %d is counting, and has %d outcomes: %+v", i, n, r.Class)
		}
	}
	if counting < 5 || scheduled < 5 {
		t.Errorf("%d programs are counting, %d scheduled", counting, scheduled)
	}
}
