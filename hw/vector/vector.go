// Package vector is the model of a PE's vector unit, MATH. It performs one operation at a
// time; each takes its setup plus elements over lanes.
//
// It may import tl, record/trace and unit. Start at Spec.
package vector

import (
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// Spec describes a vector unit.
type Spec struct {
	Lanes int       // elements per clock
	Clock unit.Time // of one step
	Setup unit.Time // before the first element
}

// Time returns what an operation on n elements takes: setup + ceil(n/lanes) clocks.
func (s *Spec) Time(n int) unit.Time {
	return s.Setup + unit.Time((n+s.Lanes-1)/s.Lanes)*s.Clock
}

// Takes returns the time of an arithmetic instruction. A reduction reads all elements along its
// axis.
func (s *Spec) Takes(in *tl.Instr) (d unit.Time, ok bool) {
	n := in.N
	if in.Math == tl.MathReduce {
		n = in.Outer * in.Axis * in.Inner
	}
	return s.Time(n), in.Op == tl.OpMath
}

// Kind is trace.Math.
func (s *Spec) Kind() trace.Kind { return trace.Math }
