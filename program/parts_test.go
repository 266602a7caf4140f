package program_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/fault"
	"kernbench/program"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// long returns a launch of ranks that each do something else, for a number of rounds.
func long(world, rounds int) *launch.Launch {
	return ring(world, func(c *tl.Context, a tl.Args) {
		for i := range rounds * (1 + c.Rank()%3) {
			x := c.Load(mine(c, a).Slice(0, 8+(i+c.Rank())%24))
			c.Send(tl.East, x)
			y := c.Recv(tl.West, tl.Dims(1+i%40), a.DType)
			c.Scale(0, y, float64(i%3))
			c.SendRef(tl.West, mine(c, a).Slice(0, i%20))
			c.Free(x)
		}
	})
}

// operation is an operation with its type and other fields, instead of their numbers.
type operation struct {
	program.Op
	program.TensorType
	program.More
}

func operations(ops []program.Op, f []program.TensorType, more []program.More) []operation {
	var all []operation
	for _, o := range ops {
		s := operation{o, f[o.TensorType], more[o.More]}
		s.Op.TensorType, s.Op.More = 0, 0
		all = append(all, s)
	}
	return all
}

// TestLongProgram: a program beyond the budget is not kept. Its known properties are what is
// sent into each ring. The parts of its kernels are what was recorded of them.
func TestLongProgram(t *testing.T) {
	const world = 7
	for _, rounds := range []int{0, 1, 60, 400} { // some kernels end in their first part
		l := long(world, rounds)
		o := program.Options{Own: own, Long: true}
		whole := record(t, l, o)
		if whole.Long || len(whole.Blocks) != world {
			t.Fatalf("%d rounds: a program of %d blocks", rounds, len(whole.Blocks))
		}
		o.Budget = 1 // for the first rank, or
		if rounds == 60 {
			o.Budget = 40 << 10 // for a later one
		}
		p := record(t, l, o)
		if !p.Long || p.Records != nil || p.Blocks != nil {
			t.Fatalf("%d rounds: long %v, %d records", rounds, p.Long, len(p.Records))
		}
		if got, want := p.AllSends(l), whole.AllSends(l); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%d rounds: sends %v, want %v", rounds, got, want)
		}
		parts := program.NewParts(t.Context(), l, o)
		got := make([][]operation, world)
		d := rand.New(rand.NewPCG(1, uint64(rounds)))
		for left := inTurn(world); len(left) > 0; {
			i := d.IntN(len(left))
			r := left[i]
			ops, err := parts.Next(r)
			if err != nil {
				t.Fatal(err)
			}
			got[r] = append(got[r], operations(ops, parts.TensorTypes(), parts.More())...)
			if ops[len(ops)-1].Code == program.End {
				left = slices.Delete(left, i, i+1)
			}
		}
		parts.Close()
		for r := range world {
			if want := operations(whole.Records[whole.Blocks[r].Record].Ops, whole.TensorTypes, whole.More); !slices.Equal(got[r], want) {
				t.Errorf("%d rounds, rank %d: %d operations in parts, %d recorded", rounds, r, len(got[r]), len(want))
			}
		}
	}
}

func inTurn(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestAllSends names the rings into which each rank sends, and its payloads.
func TestAllSends(t *testing.T) {
	l := ring(3, func(c *tl.Context, a tl.Args) {
		for i := range c.Rank() + 1 {
			c.SendRef(tl.East, mine(c, a).Slice(0, 4*(c.Rank()-i)))
			if i == 1 {
				c.Send(tl.West, c.Load(mine(c, a)))
			}
		}
	})
	want := [][]program.Sends{{{1, 0}, {}}, {{2, 8}, {1, 128}}, {{3, 16}, {1, 128}}}
	for _, budget := range []unit.Bytes{0, 1} {
		p := record(t, l, program.Options{Own: own, Long: true, Budget: budget})
		if got := p.AllSends(l); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("long %v: %v, want %v", p.Long, got, want)
		}
	}
}

// TestLongRefusals: the kernels of a long program are refused, and fail, as those of a short one,
// also in the parts.
func TestLongRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		do   tl.Kernel
		want any
	}{
		"asks":           {func(c *tl.Context, a tl.Args) { c.Recv(tl.AnyDir, tl.Dims(4), a.DType) }, new(*program.Refusal)},
		"another's":      {func(c *tl.Context, a tl.Args) { c.Load(a.Shard(0)) }, new(*program.Refusal)},
		"sends of it":    {func(c *tl.Context, a tl.Args) { c.SendRef(tl.East, a.Shard(0)) }, new(*program.Refusal)},
		"fence":          {func(c *tl.Context, a tl.Args) { c.Fence() }, new(*program.Refusal)},
		"panic":          {func(c *tl.Context, a tl.Args) { panic("here") }, new(*fault.Panic)},
		"use after free": {func(c *tl.Context, a tl.Args) { x := c.Load(mine(c, a)); c.Free(x); c.Free(x) }, new(*fault.UseAfterFree)},
	} {
		t.Run(name, func(t *testing.T) {
			bad := true
			l := long(3, 50)
			k := l.Kernel
			l.Kernel = func(c *tl.Context, a tl.Args) {
				k(c, a)
				if c.Rank() == 2 && bad {
					tt.do(c, a)
				}
			}
			o := program.Options{Own: own, Long: true, Budget: 1}
			if _, err := program.RecordLaunch(t.Context(), l, o); err == nil || !errors.As(err, tt.want) {
				t.Errorf("recorded: %v", err)
			}
			parts := program.NewParts(t.Context(), l, o)
			defer parts.Close()
			var err error
			for range 1000 {
				if _, err = parts.Next(2); err != nil {
					break
				}
			}
			if err == nil || !errors.As(err, tt.want) {
				t.Errorf("in parts: %v", err)
			}
		})
	}
}

// TestLongCancelled: checking a long program ends with the context.
func TestLongCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := ring(3, func(c *tl.Context, a tl.Args) {
		for i := 0; ; i++ {
			if c.Rank() == 1 && i == 100 {
				cancel()
			}
			if c.Rank() != 1 && i > 100 {
				return
			}
			c.Free(c.Load(mine(c, a)))
		}
	})
	if _, err := program.RecordLaunch(ctx, l, program.Options{Own: own, Long: true, Budget: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
