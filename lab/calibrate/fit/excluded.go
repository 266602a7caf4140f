package fit

import (
	"fmt"

	"kernbench/unit"
)

// Tolerance is by how much a size may be slower than a larger one before it is excluded. It is as
// much as the tables of small sizes scatter.
const Tolerance = 0.15

// Excluded returns for each point the reason why no parameters bring a model near it, or "". A
// model takes the fastest of some programs. Each takes longer for more bytes, so the time of a
// model never falls from one size to the next. The time of a library falls where it changes
// programs too late.
func Excluded(points []Point) []string {
	why := make([]string, len(points))
	fastest := -1 // of the larger sizes
	for i := len(points) - 1; i >= 0; i-- {
		p := points[i]
		if fastest >= 0 {
			f := points[fastest]
			if ratio := float64(p.Time) / float64(f.Time); ratio > 1+Tolerance {
				why[i] = fmt.Sprintf("%.0f %% slower than %v", (ratio-1)*100, f.Size)
			}
		}
		if fastest < 0 || p.Time < points[fastest].Time {
			fastest = i
		}
	}
	return why
}

// Falls returns the places where the time falls by more than the tolerance from one size to the
// next.
func Falls(points []Point) []Fall {
	var all []Fall
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if float64(a.Time) > float64(b.Time)*(1+Tolerance) {
			all = append(all, Fall{a.Size, b.Size, a.Time, b.Time})
		}
	}
	return all
}

// Fall is a time that falls from one size to the next.
type Fall struct {
	From, To     unit.Bytes
	Before, Then unit.Time
}

// Far is by how much the time of a row differs from those of both its neighbours if it is an
// outlier.
const Far = 0.3

// Outliers reports for each point whether its time is more than Far above both its neighbours, or
// below both. No time between two sizes should lie there. The first and the last point are none.
func Outliers(points []Point) []bool {
	out := make([]bool, len(points))
	for i := 1; i < len(points)-1; i++ {
		before := float64(points[i].Time)/float64(points[i-1].Time) - 1
		after := float64(points[i].Time)/float64(points[i+1].Time) - 1
		out[i] = before > Far && after > Far || before < -Far && after < -Far
	}
	return out
}
