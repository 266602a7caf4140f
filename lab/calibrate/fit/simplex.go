package fit

import (
	"math"
	"slices"
)

// simplex is the state of a search by Nelder and Mead's method, with its limits.
type simplex struct {
	size       float64 // of the first simplex: how far its corners lie from the start, along each axis
	calls      int     // of the function, at most, but for a step that has begun
	idle       int     // ends the search after so many steps in a row that gain no more than gain
	gain       float64
	reflect    float64 // how far the worst corner goes, in distances to the centre of the others
	expand     float64
	contract   float64
	shrink     float64
	f          func(x []float64) float64
	corners    []corner // the best first
	evaluated  int
	sinceBest  int
	bestBefore float64
}

// corner is a corner of a simplex.
type corner struct {
	x []float64
	f float64
}

// minimize returns the lowest point that it finds downhill from a start. The function may have
// kinks; a NaN counts as infinite. The coefficients depend on the number of dimensions, as Gao and
// Han have it: Implementing the Nelder-Mead simplex algorithm with adaptive parameters,
// Computational Optimization and Applications 51(1), 2012.
func minimize(f func(x []float64) float64, from []float64, size float64) (x []float64, least float64) {
	n := float64(len(from))
	s := &simplex{
		size: size, calls: 4000, idle: 60, gain: 1e-9, f: f,
		reflect: 1, expand: 1 + 2/n, contract: 0.75 - 1/(2*n), shrink: 1 - 1/n,
	}
	if len(from) == 1 {
		s.expand, s.contract, s.shrink = 2, 0.5, 0.5
	}
	s.begin(from)
	for s.evaluated < s.calls && s.sinceBest < s.idle {
		s.step()
		s.settle()
	}
	return s.corners[0].x, s.corners[0].f
}

// begin makes the first simplex: the start, and one corner along each axis.
func (s *simplex) begin(from []float64) {
	s.corners = append(s.corners, s.at(slices.Clone(from)))
	for i := range from {
		x := slices.Clone(from)
		x[i] += s.size
		s.corners = append(s.corners, s.at(x))
	}
	s.bestBefore = math.Inf(1)
	s.settle()
	s.sinceBest = 0
}

// at evaluates the function.
func (s *simplex) at(x []float64) corner {
	s.evaluated++
	f := s.f(x)
	if math.IsNaN(f) {
		f = math.Inf(1)
	}
	return corner{x, f}
}

// settle puts the corners in order, and counts steps without a gain.
func (s *simplex) settle() {
	slices.SortStableFunc(s.corners, func(a, b corner) int {
		switch {
		case a.f < b.f:
			return -1
		case a.f > b.f:
			return 1
		}
		return 0
	})
	s.sinceBest++
	if best := s.corners[0].f; best < s.bestBefore-s.gain {
		s.bestBefore, s.sinceBest = best, 0
	}
}

// step replaces the worst corner by a better one, or draws all towards the best.
func (s *simplex) step() {
	last := len(s.corners) - 1
	worst, centre := s.corners[last], s.centre()
	along := func(distance float64) corner { // from the centre, away from the worst corner
		x := make([]float64, len(centre))
		for i := range x {
			x[i] = centre[i] + distance*(centre[i]-worst.x[i])
		}
		return s.at(x)
	}
	reflected := along(s.reflect)
	switch {
	case reflected.f < s.corners[0].f:
		s.corners[last] = reflected
		if further := along(s.reflect * s.expand); further.f < reflected.f {
			s.corners[last] = further
		}
		return
	case reflected.f < s.corners[last-1].f:
		s.corners[last] = reflected
		return
	case reflected.f < worst.f:
		if outside := along(s.reflect * s.contract); outside.f <= reflected.f {
			s.corners[last] = outside
			return
		}
	default:
		if inside := along(-s.contract); inside.f < worst.f {
			s.corners[last] = inside
			return
		}
	}
	best := s.corners[0].x
	for i := 1; i <= last; i++ {
		x := slices.Clone(s.corners[i].x)
		for k := range x {
			x[k] = best[k] + s.shrink*(x[k]-best[k])
		}
		s.corners[i] = s.at(x)
	}
}

// centre returns the mean of all corners but the worst.
func (s *simplex) centre() []float64 {
	last := len(s.corners) - 1
	c := make([]float64, len(s.corners[0].x))
	for _, o := range s.corners[:last] {
		for i, v := range o.x {
			c[i] += v / float64(last)
		}
	}
	return c
}
