package sim_test

import (
	"testing"

	"kernbench/exec/sim"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// turner is an engine that turns matrices, an element in a nanosecond.
type turner struct{}

func (turner) Takes(in *tl.Instr) (unit.Time, bool) {
	return unit.Time(in.N) * unit.Nanosecond, in.Op == tl.OpMath && in.Math == tl.MathTranspose
}

func (turner) Kind() trace.Kind { return trace.Math }

// TestAnotherUnit: a unit that is put into the PE takes its instructions from the others, beside
// which it works, in both modes.
func TestAnotherUnit(t *testing.T) {
	const n = 64
	kernel := func(c *tl.Context, a tl.Args) {
		v := c.Full(tl.Dims(8, n/8), a.DType, 1)
		c.Transpose(v)
		for range 100 {
			c.Free(c.Add(v, v))
		}
	}
	took := func(eventDriven, with bool) unit.Time {
		b := newBench(t, kernel, setup{world: 2, n: n})
		e := sim.New(b.m, sim.Options{EventDriven: eventDriven})
		if with {
			e.WithUnit(turner{})
		}
		res, err := e.Launch(t.Context(), b.launch)
		if err != nil {
			t.Fatal(err)
		}
		return res.Duration()
	}
	c := termsOf(newBench(t, kernel, setup{world: 2, n: n}))
	for _, eventDriven := range []bool{true, false} {
		without, with := took(eventDriven, false), took(eventDriven, true)
		// The additions no longer wait for the matrix, but are issued after it.
		if want := without - c.spec.Math.Time(n) + c.I; with != want {
			t.Errorf("event-driven %v: with a unit of its own %v, without %v, want %v", eventDriven, with, without, want)
		}
	}
}
