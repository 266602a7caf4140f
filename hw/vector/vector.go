// Package vector is the model of a PE's vector unit, MATH: one operation at a
// time, setup plus elements over lanes.
//
// It imports unit only. Start at Spec.
package vector

import "kernbench/unit"

// Spec describes a vector unit.
type Spec struct {
	Lanes int       // elements per clock
	Clock unit.Time // of one step
	Setup unit.Time // before the first element
}

// Time is what an operation on n elements takes: setup + ceil(n/lanes) clocks.
func (s *Spec) Time(n int) unit.Time {
	return s.Setup + unit.Time((n+s.Lanes-1)/s.Lanes)*s.Clock
}
