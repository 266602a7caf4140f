package fit_test

import (
	"slices"
	"testing"

	"kernbench/lab/calibrate/fit"
	"kernbench/unit"
)

// TestOutliers: a row is an outlier if it is more than 30 % away from both neighbours on the same
// side. The ends have one neighbour, and are none.
func TestOutliers(t *testing.T) {
	for _, test := range []struct {
		name  string
		times []float64
		want  []int
	}{
		{"above both", []float64{12.9, 22.2, 14.5}, []int{1}},
		{"below both", []float64{10, 6.9, 10}, []int{1}},
		{"a step up", []float64{10, 20, 20}, nil},
		{"above one", []float64{10, 13.1, 11}, nil},
		{"the ends", []float64{50, 10, 50}, []int{1}},
		{"two rows", []float64{10, 50}, nil},
		{"none", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var points []fit.Point
			for i, us := range test.times {
				points = append(points, fit.Point{Size: unit.Bytes(8 << i), Time: unit.Nanoseconds(us * 1e3)})
			}
			var got []int
			for i, out := range fit.Outliers(points) {
				if out {
					got = append(got, i)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
