package program_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"kernbench/program"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// instruction returns what is compared of one.
func instruction(rank int, in *tl.Instr) string {
	return fmt.Sprint(rank, in.Op, in.Addr, in.N, in.Type, in.Port, in.A == tl.None, in.AOff)
}

// TestVisit: the instructions that Visit passes are those that a program of the launch has.
func TestVisit(t *testing.T) {
	for _, v := range variants {
		l := ring(4, func(c *tl.Context, a tl.Args) {
			x := usual(c, a)
			switch {
			case c.Rank() == 2 && v.one != nil:
				v.one(c, a, x)
			case v.others != nil:
				v.others(c, a, x)
			}
		})
		p, err := program.RecordLaunch(t.Context(), l, program.Options{Places: true})
		if err != nil {
			continue // it is no program
		}
		var want, got []string
		for i := range p.Blocks {
			for in := range p.Instrs(&p.Blocks[i], int(peOf(i))) {
				want = append(want, instruction(i, &in))
			}
		}
		err = program.Visit(t.Context(), l, program.Options{}, func(_ *launch.Group, rank int, in *tl.Instr) error {
			kept := *in
			if in.Op == tl.OpMath || in.Op == tl.OpRecv || in.Op == tl.OpRecvAsync { // whose address has no meaning
				kept.Addr = 0
			}
			got = append(got, instruction(rank, &kept))
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v\n%v\nwant\n%v", v.name, err, got, want)
		}
	}
}

// TestVisitStops: an error ends the kernels, and so does an instruction that asks.
func TestVisitStops(t *testing.T) {
	l := ring(4, func(c *tl.Context, a tl.Args) { usual(c, a) })
	stop, n := errors.New("stop"), 0
	err := program.Visit(t.Context(), l, program.Options{}, func(_ *launch.Group, rank int, _ *tl.Instr) error {
		if n++; rank == 1 {
			return stop
		}
		return nil
	})
	if err != stop || n < 5 {
		t.Errorf("%v after %d instructions", err, n)
	}
	l = ring(4, func(c *tl.Context, a tl.Args) { c.RecvAny(tl.Dims(4), a.DType) })
	var refused *program.Refusal
	err = program.Visit(t.Context(), l, program.Options{}, func(*launch.Group, int, *tl.Instr) error { return nil })
	if !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
}
